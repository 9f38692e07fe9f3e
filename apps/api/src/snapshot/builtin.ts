import { type Menu, menuByPath } from '@tollway/schema';
import type { Row } from './snapshot.js';

/** Built-in items, which always exist. The changes of such an item are stored as a row with its id. */

/** Names of the built-in items of a menu. */
export const builtinNames = (path: string): readonly string[] =>
  (menuByPath(path)?.builtin ?? []).flatMap(({ values }) => values.name ?? []);

const made = new WeakMap<Menu, readonly Row[]>();

/** Built-in items of a menu with their defaults; built once. */
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

/** Values of a built-in row that cannot be changed; none for any other row. */
export function fixedValues(menu: Menu, id: number): Readonly<Record<string, string>> {
  const item = menu.builtin?.find((each) => each.id === id);
  return Object.fromEntries(Object.entries(item?.values ?? {}).filter(([name]) => menu.props[name]?.readOnly));
}

/** Built-in row by id or name. */
export const builtinRow = (menu: Menu, key: { readonly id: number } | { readonly name: string }): Row | undefined =>
  builtinRows(menu).find((row) => ('id' in key ? row.id === key.id : row.values.name === key.name));

/** All rows of a menu: built-in rows with their changes, followed by the other rows. */
export function withBuiltin(menu: Menu, stored: readonly Row[]): readonly Row[] {
  const builtin = builtinRows(menu);
  if (builtin.length === 0) return stored;
  const set = new Map(stored.map((row) => [row.id, row]));
  const ids = new Set(builtin.map(({ id }) => id));
  return [...builtin.map((row) => set.get(row.id) ?? row), ...stored.filter(({ id }) => !ids.has(id))];
}
