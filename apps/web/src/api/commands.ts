/** The commands of a menu, as REST requests. */
import { request } from './rest.ts';
import { type Row, toRow } from './row.ts';

function url(menu: string, rest = ''): string {
  return `/rest${menu}${rest}`;
}

/** All items of a menu, or those that equal `query`. A settings menu gives one row. */
export async function print(menu: string, query: Readonly<Record<string, string>> = {}): Promise<Row[]> {
  const search = new URLSearchParams(query).toString();
  const answer = await request('GET', url(menu, search === '' ? '' : `?${search}`));
  return Array.isArray(answer) ? answer.map(toRow) : [toRow(answer)];
}

/** Adds an item and returns it as the server made it. */
export async function add(menu: string, values: Readonly<Record<string, string>>): Promise<Row> {
  return toRow(await request('PUT', url(menu), values));
}

/** Changes the given properties of one item. `!name` removes a property. */
export async function set(menu: string, id: string, values: Readonly<Record<string, string>>): Promise<Row> {
  return toRow(await request('PATCH', url(menu, `/${encodeURIComponent(id)}`), values));
}

/** Adds items, all of them or none. */
export async function addAll(menu: string, list: readonly Readonly<Record<string, string>>[]): Promise<void> {
  await request('PUT', url(menu), list);
}

/** Changes items, which each element names by `.id`, all of them or none. */
export async function setAll(menu: string, list: readonly Readonly<Record<string, string>>[]): Promise<void> {
  await request('PATCH', url(menu), list);
}

/** Changes properties of a settings menu. */
export async function setSettings(menu: string, values: Readonly<Record<string, string>>): Promise<void> {
  await request('POST', url(menu, '/set'), values);
}

/** Runs a command of the menu on items; without items when `ids` is empty. */
export async function run(
  menu: string,
  command: string,
  ids: readonly string[] = [],
  values: Readonly<Record<string, string>> = {},
): Promise<void> {
  await request('POST', url(menu, `/${command}`), ids.length === 0 ? values : { '.id': ids.join(','), ...values });
}

/** Moves items, in the order given, before `destination`; to the end without one. */
export async function move(menu: string, ids: readonly string[], destination: string | undefined): Promise<void> {
  await request('POST', url(menu, '/move'), {
    numbers: ids.join(','),
    ...(destination === undefined ? {} : { destination }),
  });
}
