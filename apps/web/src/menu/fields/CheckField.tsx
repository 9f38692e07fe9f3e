import type { ControlProps } from './control-props.ts';

export function CheckField({ id, prop, value, disabled, describedBy, onChange }: ControlProps) {
  return (
    <input
      id={id}
      type="checkbox"
      title={prop.help}
      disabled={disabled}
      aria-describedby={describedBy}
      checked={value === 'true' || value === 'yes'}
      onChange={(event) => onChange(event.target.checked ? 'true' : 'false')}
    />
  );
}
