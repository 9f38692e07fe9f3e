import { type Menu, menuByPath } from '@tollway/schema';
import type { Row } from './snapshot.js';

/** Items that always exist. What is changed of one is stored as a row with its id. */

/** Names of the items of a menu that always exist. */
export const builtinNames = (path: string): readonly string[] =>
  (menuByPath(path)?.builtin ?? []).flatMap(({ values }) => values.name ?? []);

const made = new WeakMap<Menu, readonly Row[]>();

/** Items of a menu that always exist, as they are at first; made once. */
function builtinRows(menu: Menu): readonly Row[] {
  let rows = made.get(menu);
  if (rows === undefined) {
    rows = (menu.builtin ?? []).map(({ id, values }) => {
      const given = Object.entries(values).filter(([name]) => name !== 'comment' && !menu.props[name]?.readOnly);
      return { id, values: Object.fromEntries(given), disabled: false, comment: values.comment ?? '' };
    });
    made.set(menu, rows);
  }
  return rows;
}

/** Values of a row that always exists which nothing changes; of any other row none. */
export function fixedValues(menu: Menu, id: number): Readonly<Record<string, string>> {
  const item = menu.builtin?.find((each) => each.id === id);
  return Object.fromEntries(Object.entries(item?.values ?? {}).filter(([name]) => menu.props[name]?.readOnly));
}

/** Built-in row by id or name. */
export const builtinRow = (menu: Menu, key: { readonly id: number } | { readonly name: string }): Row | undefined =>
  builtinRows(menu).find((row) => ('id' in key ? row.id === key.id : row.values.name === key.name));

/** All rows of a menu: those that always exist, as they are set, and then the others. */
export function withBuiltin(menu: Menu, stored: readonly Row[]): readonly Row[] {
  const builtin = builtinRows(menu);
  if (builtin.length === 0) return stored;
  const set = new Map(stored.map((row) => [row.id, row]));
  const ids = new Set(builtin.map(({ id }) => id));
  return [...builtin.map((row) => set.get(row.id) ?? row), ...stored.filter(({ id }) => !ids.has(id))];
}
