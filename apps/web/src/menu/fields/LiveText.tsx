import type { Prop } from '@tollway/schema';
import { valueText } from '../cells/text.ts';

/** Whether to show the unit, as neither the text of the value nor the label contains it. */
export function showsUnit({ kind, label }: Prop): boolean {
  if (kind.unit === undefined || ['bytes', 'rate', 'percent', 'kibibytes'].includes((kind.pair?.of ?? kind).name))
    return false;
  return !label.toLowerCase().includes(kind.unit.toLowerCase());
}

/** Value that the system determined, with its unit. */
export function LiveText({ prop, value }: { readonly prop: Prop; readonly value: string | undefined }) {
  return (
    <>
      {valueText(prop, value) || '–'}
      {value !== undefined && showsUnit(prop) && <span className="unit"> {prop.kind.unit}</span>}
    </>
  );
}
