import type { ControlProps } from './control-props.ts';

/** One word of a closed list. A word that is not in the list is kept until another one is chosen. */
export function SelectField({ id, prop, value, disabled, invalid, describedBy, onChange }: ControlProps) {
  const options = [...(prop.kind.values ?? []), ...(prop.kind.keywords ?? [])];
  return (
    <select
      id={id}
      title={prop.help}
      disabled={disabled}
      aria-invalid={invalid}
      aria-describedby={describedBy}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {!options.includes(value) && <option value={value}>{value}</option>}
      {options.map((option) => (
        <option key={option}>{option}</option>
      ))}
    </select>
  );
}
