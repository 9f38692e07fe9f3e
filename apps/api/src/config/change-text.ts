import { editValue, type Menu, type Prop } from '@tollway/schema';
import type { RowContent } from './draft.js';
import { storedProps } from './items.js';

/** Description of a change of a row, for people; empty when it stays as it is. Without `before` it is a new one. */
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

/** A setting as people write it; undefined for one that stands at its default without being given. */
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
