import { useOptions } from '../../api/references.ts';
import { Combo } from '../../ui/Combo.tsx';
import type { ControlProps } from './control-props.ts';

/** A text with choices: names of other items, or suggestions. */
export function ComboField({ id, prop, value, disabled, invalid, describedBy, onChange }: ControlProps) {
  const { options, load } = useOptions(prop.kind);
  return (
    <Combo
      id={id}
      value={value}
      options={options}
      disabled={disabled}
      invalid={invalid}
      describedBy={describedBy}
      onOpen={load}
      onChange={onChange}
    />
  );
}
