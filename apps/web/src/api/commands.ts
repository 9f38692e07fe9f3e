/** Commands of menus as REST requests. Changes return the number of their revision, for an undo. */
import { request, send } from './rest.ts';
import { type Row, rowId, toRow } from './row.ts';

/**
 * A position next to a row that is shown. Rows that Find or the filter hides, and rows that are not loaded, are not
 * moved.
 */
export type RowPosition = { readonly before: string } | { readonly after: string };

function url(menu: string, rest = ''): string {
  return `/rest${menu}${rest}`;
}

/** All items of a menu, or those that equal `query`. A settings menu gives one row. */
export async function print(menu: string, query: Readonly<Record<string, string>> = {}): Promise<Row[]> {
  const search = new URLSearchParams(query).toString();
  const answer = await request('GET', url(menu, search === '' ? '' : `?${search}`));
  return Array.isArray(answer) ? answer.map(toRow) : [toRow(answer)];
}

/** Maximum number of ids in one query: the router accepts 64 operations in a word of a query. */
export const MAX_ASKED = 64;

/** Those of the items that exist, in the order of the menu, with the given properties. */
export async function printItems(menu: string, ids: readonly string[], properties: readonly string[]): Promise<Row[]> {
  const names = ['.id', ...properties].join(',');
  if (ids.length <= MAX_ASKED) {
    const any = ids.length > 1 ? [`#${'|'.repeat(ids.length - 1)}`] : [];
    const query = [...ids.map((id) => `.id=${id}`), ...any];
    const answer = await request('POST', url(menu, '/print'), { '.proplist': names, '.query': query });
    return Array.isArray(answer) ? answer.map(toRow) : [];
  }
  const wanted = new Set(ids);
  return (await print(menu, { '.proplist': names })).filter((row) => wanted.has(rowId(row)));
}

/** Number of the revision that a change made; undefined when it made none. */
export type Revision = number | undefined;

/** An item that was added or changed. */
interface Saved {
  readonly row: Row;
  readonly revision: Revision;
}

async function saved(method: string, path: string, values: Readonly<Record<string, string>>): Promise<Saved> {
  const { body, revision } = await send(method, path, values);
  return { row: toRow(body), revision };
}

/** Adds an item and returns it as the server made it. */
export function add(menu: string, values: Readonly<Record<string, string>>): Promise<Saved> {
  return saved('PUT', url(menu), values);
}

/** Changes the given properties of one item. `!name` removes a property. */
export function set(menu: string, id: string, values: Readonly<Record<string, string>>): Promise<Saved> {
  return saved('PATCH', url(menu, `/${encodeURIComponent(id)}`), values);
}

/** Changes properties of a settings menu. */
export async function setSettings(menu: string, values: Readonly<Record<string, string>>): Promise<Revision> {
  return (await send('POST', url(menu, '/set'), values)).revision;
}

/** Runs a command of the menu on items; without items when `ids` is empty. */
export async function run(
  menu: string,
  command: string,
  ids: readonly string[] = [],
  values: Readonly<Record<string, string>> = {},
): Promise<Revision> {
  const body = ids.length === 0 ? values : { '.id': ids.join(','), ...values };
  return (await send('POST', url(menu, `/${command}`), body)).revision;
}

/** Moves items, in the order given, next to another item. */
export async function move(menu: string, ids: readonly string[], position: RowPosition): Promise<Revision> {
  const beside = 'before' in position ? { destination: position.before } : { 'place-after': position.after };
  const body = { numbers: ids.join(','), ...beside };
  return (await send('POST', url(menu, '/move'), body)).revision;
}
