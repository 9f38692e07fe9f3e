import type { Menu } from '@tollway/schema';
import { AgentGone } from '../agent/messages.js';
import { refuseLong } from '../config/content.js';
import { isDynamicId, nameProp } from '../config/items.js';
import { errors } from '../errors.js';
import { MAX_NAMES, parseProplist, project } from '../query/query.js';
import type { RestRow, RowSet } from '../view/rows.js';
import type { Projection } from './long-list.js';

/** Properties of a row to send; `undefined` for all. @throws ApiError when the value is no list of names. */
export function proplistOf(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  refuseLong('.proplist', value);
  const names = parseProplist(value);
  if (names === undefined)
    throw errors.badProperty(
      '.proplist',
      `value of .proplist: give at most ${MAX_NAMES} names, separated by commas or as a list`,
    );
  return names.length === 0 ? undefined : names;
}

/** Whether a property is sent. */
export const isNamed = (names: readonly string[] | undefined, property: string): boolean =>
  names === undefined || names.includes(property);

export function projected(rows: readonly RestRow[], names: readonly string[] | undefined): readonly RestRow[] {
  return names === undefined ? rows : rows.map((row) => project(row, names));
}

/** Projection of an item to the properties to send; others are not decoded. */
export function projection(names: readonly string[] | undefined): Projection {
  if (names === undefined) return (rows, index) => rows.row(index);
  return (rows, index) => {
    const row: Record<string, string> = {};
    for (const name of names) {
      const value = rows.value(index, name);
      if (value !== undefined) row[name] = value;
    }
    return row;
  };
}

/** Index of the item with this `.id` or name. */
export function indexOfItem(menu: Menu, rows: RowSet, item: string): number | undefined {
  const byId = item.startsWith('*');
  const name = byId ? undefined : nameProp(menu);
  if (!byId && name === undefined) return undefined;
  if (byId && rows.indexOf !== undefined) return rows.indexOf(item);
  if (name === 'name' && rows.indexOfName !== undefined) return rows.indexOfName(item);
  const wanted = byId ? item.toUpperCase() : item;
  for (let index = 0; index < rows.length; index += 1) {
    if ((name === undefined ? rows.id(index) : rows.value(index, name)) === wanted) return index;
  }
  return undefined;
}

/**
 * The item with this `.id` or name. @throws ApiError 404; AgentGone when only the data plane knows the item and does
 * not answer.
 */
export function oneItem(menu: Menu, rows: RowSet, item: string): RestRow {
  const index = indexOfItem(menu, rows, item);
  if (index === undefined) throw rows.incomplete && isDynamicId(item) ? new AgentGone() : errors.noSuchItem();
  return rows.row(index);
}

/** The items with these `.id`s, in this order. Items that no longer exist are omitted. */
export function manyItems(rows: RowSet, ids: readonly string[]): RestRow[] {
  const places = new Map(ids.map((id, place) => [id, place]));
  const found: (RestRow | undefined)[] = ids.map(() => undefined);
  for (let index = 0; index < rows.length; index += 1) {
    const place = places.get(rows.id(index));
    if (place !== undefined) found[place] = rows.row(index);
  }
  return found.filter((row) => row !== undefined);
}
