import type { ControlProps } from './control-props.ts';

export function TextField({ id, prop, value, disabled, invalid, describedBy, onChange }: ControlProps) {
  return (
    <input
      id={id}
      type="text"
      autoComplete="off"
      spellCheck={false}
      inputMode={prop.kind.editor === 'number' ? 'numeric' : undefined}
      title={prop.help}
      disabled={disabled}
      aria-invalid={invalid}
      aria-describedby={describedBy}
      aria-required={prop.required}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
