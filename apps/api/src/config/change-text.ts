import { editValue, type Menu, type Prop } from '@tollway/schema';
import type { RowContent } from './draft.js';
import { storedProps } from './items.js';

/** Description of a change of a row; empty without a change. Without `before` the row is new. */
export function describeChange(menu: Menu, before: RowContent | undefined, after: RowContent): string {
  const parts = Object.entries(storedProps(menu)).flatMap(([property, prop]) => {
    if (property === 'name') return [];
    const [old, now] = [textOf(prop, before, property), textOf(prop, after, property)];
    if (old === now) return [];
    if (now === undefined) return [`${property} ${old} → ${textOfDefault(prop)}`];
    return old === undefined ? [`${property} ${now}`] : [`${property} ${old} → ${now}`];
  });
  return parts.join(', ');
}

/** A setting in the form in which it is edited; undefined for one that is not given. */
function textOf(prop: Prop, content: RowContent | undefined, property: string): string | undefined {
  if (content === undefined) return undefined;
  if (property === 'comment') return content.comment === '' ? undefined : content.comment;
  if (property === 'disabled') return content.disabled ? 'true' : undefined;
  const value = content.values[property];
  return value === undefined ? undefined : editValue(prop.kind, value);
}

function textOfDefault(prop: Prop): string {
  return prop.default ? editValue(prop.kind, prop.default) : 'none';
}
