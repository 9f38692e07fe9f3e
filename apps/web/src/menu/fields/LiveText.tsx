import type { Prop } from '@tollway/schema';
import { valueText } from '../cells/text.ts';

/** True where the text of the value does not name the unit itself. */
function showsUnit({ kind }: Prop): boolean {
  return kind.unit !== undefined && !['bytes', 'rate', 'percent'].includes(kind.name);
}

/** What the system computed, with its unit. */
export function LiveText({ prop, value }: { readonly prop: Prop; readonly value: string | undefined }) {
  return (
    <>
      {valueText(prop, value) || '–'}
      {value !== undefined && showsUnit(prop) && <span className="unit"> {prop.kind.unit}</span>}
    </>
  );
}
