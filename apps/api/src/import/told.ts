import { editValue, type Menu } from '@tollway/schema';
import type { RowContent } from '../config/draft.js';

/** What a row gets and what it loses, for people; empty when it stays as it is. Without `before` it is a new one. */
export function told(menu: Menu, before: RowContent | undefined, after: RowContent): string {
  const parts = Object.keys(menu.props).flatMap((property) => {
    if (property === 'name') return [];
    const [old, now] = [textOf(menu, before, property), textOf(menu, after, property)];
    if (old === now) return [];
    if (now === undefined) return [`${property} ${old} → ${textOfDefault(menu, property)}`];
    return old === undefined ? [`${property} ${now}`] : [`${property} ${old} → ${now}`];
  });
  return parts.join(', ');
}

/** A setting as people write it; undefined for one that stands at its default without being given. */
function textOf(menu: Menu, content: RowContent | undefined, property: string): string | undefined {
  if (content === undefined) return undefined;
  const prop = menu.props[property];
  if (property === 'comment') return content.comment === '' ? undefined : content.comment;
  if (property === 'disabled') return content.disabled ? 'true' : undefined;
  const value = content.values[property];
  return prop === undefined || value === undefined ? undefined : editValue(prop.kind, value);
}

function textOfDefault(menu: Menu, property: string): string {
  const prop = menu.props[property];
  return prop?.default ? editValue(prop.kind, prop.default) : 'none';
}
