import type { Menu } from '@tollway/schema';
import { filterItems, findItems, sortItems } from '../config/query.js';
import type { RestRow, RowSet } from '../view/rows.js';
import type { MenuWindow } from './message.js';

/** What a window shows at one moment. */
export interface WindowContent {
  /** Items of the menu. */
  readonly total: number;
  /** Items that pass filter and find. */
  readonly matched: number;
  readonly rows: readonly RestRow[];
}

/** Evaluates a window. Cells outside of it are decoded only when filter, find or sort need them. */
export function evaluate(menu: Menu, set: RowSet, window: MenuWindow): WindowContent {
  const { first, count } = window;
  const indexes = sorted(menu, set, found(menu, set, window), window.sort);
  const matched = indexes?.length ?? set.length;
  const rows: RestRow[] = [];
  for (let place = first; place < Math.min(matched, first + count); place += 1) {
    const index = indexes?.[place] ?? place;
    rows.push(withId(set.row(index), menu.kind === 'ordered' && indexes !== undefined ? index : undefined));
  }
  return { total: set.length, matched, rows };
}

/** Indexes of the items that pass filter and find; `undefined`: all of them, in their order. */
function found(menu: Menu, set: RowSet, { filter, find }: MenuWindow): number[] | undefined {
  if (filter.length === 0 && find === '') return undefined;
  const names = filter.map(([name]) => name);
  const items = new Map<RestRow, number>();
  const all = find === '' ? undefined : set.all();
  for (let index = 0; index < set.length; index += 1) items.set(all?.[index] ?? cells(set, index, names), index);
  const passed = findItems(menu, filterItems(menu, [...items.keys()], filter), find);
  return passed.map((item) => items.get(item) ?? 0);
}

/** The properties of an item that a filter looks at. */
function cells(set: RowSet, index: number, names: readonly string[]): RestRow {
  const item: Record<string, string> = {};
  for (const name of names) {
    const value = set.value(index, name);
    if (value !== undefined) item[name] = value;
  }
  return item;
}

/** Indexes in the order of a property. Numbers, the common case of live columns, are compared as numbers. */
function sorted(
  menu: Menu,
  set: RowSet,
  indexes: number[] | undefined,
  sort: MenuWindow['sort'],
): number[] | undefined {
  if (sort === undefined) return indexes;
  const places = indexes ?? Array.from({ length: set.length }, (_, index) => index);
  const values = places.map((index) => set.value(index, sort.by));
  if (!values.every((value) => value === undefined || /^\d{1,15}$/.test(value))) {
    const items = new Map<RestRow, number>();
    for (const index of places) items.set(cells(set, index, [sort.by]), index);
    return sortItems(menu, [...items.keys()], sort.by, sort.desc).map((item) => items.get(item) ?? 0);
  }
  const sign = sort.desc ? -1 : 1;
  // Items without a value come last, whichever the direction.
  const keys = values.map((value) => (value === undefined ? Number.POSITIVE_INFINITY : sign * Number(value)));
  return places
    .map((index, place) => ({ index, key: keys[place] ?? 0 }))
    .sort((a, b) => (a.key === b.key ? 0 : a.key - b.key))
    .map(({ index }) => index);
}

/**
 * Settings menus have no `.id`; deltas need one. `position` is that of the item in the whole menu, where the window
 * does not tell it.
 */
function withId(row: RestRow, position: number | undefined): RestRow {
  const item = row['.id'] === undefined ? { '.id': '*0', ...row } : row;
  return position === undefined ? item : { ...item, '.nr': String(position) };
}

export interface Delta {
  readonly order?: readonly string[];
  readonly set: readonly RestRow[];
  readonly unset?: Readonly<Record<string, readonly string[]>>;
  readonly remove: readonly string[];
}

/** What turns `before` into `after`; `undefined` when they are equal. */
export function deltaOf(before: WindowContent, after: WindowContent): Delta | undefined {
  const old = new Map(before.rows.map((row) => [row['.id'] ?? '', row]));
  const set: RestRow[] = [];
  const unset: Record<string, readonly string[]> = {};
  for (const row of after.rows) {
    const id = row['.id'] ?? '';
    const previous = old.get(id);
    old.delete(id);
    if (previous === undefined) {
      set.push(row);
      continue;
    }
    const changed = Object.entries(row).filter(([name, value]) => previous[name] !== value);
    if (changed.length > 0) set.push({ '.id': id, ...Object.fromEntries(changed) });
    const gone = Object.keys(previous).filter((name) => !(name in row));
    if (gone.length > 0) unset[id] = gone;
  }
  const remove = [...old.keys()];
  const reordered =
    before.rows.length !== after.rows.length ||
    after.rows.some((row, index) => row['.id'] !== before.rows[index]?.['.id']);
  const hasUnset = Object.keys(unset).length > 0;
  const same = set.length === 0 && remove.length === 0 && !hasUnset && !reordered;
  if (same && before.total === after.total && before.matched === after.matched) return undefined;
  return {
    ...(reordered && { order: after.rows.map((row) => row['.id'] ?? '') }),
    set,
    ...(hasUnset && { unset }),
    remove,
  };
}
