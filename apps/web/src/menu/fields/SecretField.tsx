import type { ControlProps } from './control-props.ts';

/** A text that is never shown, and that the server never sends. */
export function SecretField({ id, prop, value, disabled, invalid, describedBy, onChange }: ControlProps) {
  return (
    <input
      id={id}
      type="password"
      autoComplete="new-password"
      title={prop.help}
      disabled={disabled}
      aria-invalid={invalid}
      aria-describedby={describedBy}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
