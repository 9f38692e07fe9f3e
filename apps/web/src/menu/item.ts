/** Names and numbers of items and what may be done with them. */
import { type Menu, thousands } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import { isSet } from './cells/text.ts';

/** `1 985`: how many there are of something, as every text spells it. */
export const amount = (count: number): string => thousands(String(count));

/** `1 item`, `1 985 items`. */
export const items = (count: number): string => `${amount(count)} ${count === 1 ? 'item' : 'items'}`;

/** Short name of an item: its key properties, or its id. */
function itemName(menu: Menu, row: Row): string {
  const parts = (menu.key ?? []).map((name) => row[name]).filter((value) => value !== undefined && value !== '');
  if (parts.length > 0) return parts.join(', ');
  if (row.chain !== undefined && row.action !== undefined) return `${row.chain}: ${row.action}`;
  return row[menu.columns[0] ?? '.id'] ?? row['.id'] ?? '';
}

/** Title of the dialog of an item. */
export function itemTitle(menu: Menu, row: Row): string {
  return `${menu.singular} <${row.name ?? itemName(menu, row)}>`;
}

/** Title of the dialog of a new item. */
export function newTitle(menu: Menu): string {
  return `New ${menu.singular}`;
}

/** Why an item cannot be changed; undefined when it can. */
export function lockedReason(menu: Menu, row: Row): string | undefined {
  if (!menu.commands.includes('set')) return `${menu.title} only shows live state`;
  if (isSet(row, 'builtin')) return 'this item always exists and cannot be changed';
  if (isSet(row, 'dynamic')) return 'this item is dynamic and cannot be changed; copy it to make your own';
  return undefined;
}

/** Why an item cannot be removed; undefined when it can. */
export function removalLock(menu: Menu, row: Row): string | undefined {
  if (!menu.commands.includes('set')) return undefined;
  return menu.dynamicRemovable !== undefined && isSet(row, 'dynamic') ? undefined : lockedReason(menu, row);
}

/** The properties that a user gave an item, e.g. to add it again. */
export function givenValues(menu: Menu, row: Row): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, prop] of Object.entries(menu.props)) {
    const value = row[name];
    if (value === undefined || prop.readOnly === true || prop.secret === true) continue;
    if (value === prop.default) continue;
    if (value === '' && prop.unset !== true) continue;
    values[name] = value;
  }
  return values;
}
