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

/** Evaluates a window. Rows outside of it are decoded only when filter, find or sort need them. */
export function evaluate(menu: Menu, set: RowSet, window: MenuWindow): WindowContent {
  const { filter, find, sort, first, count } = window;
  if (filter.length === 0 && find === '' && sort === undefined) {
    const end = Math.min(set.length, first + count);
    const rows: RestRow[] = [];
    for (let index = first; index < end; index += 1) rows.push(withId(set.row(index)));
    return { total: set.length, matched: set.length, rows };
  }
  let items = set.all();
  if (filter.length > 0) items = filterItems(menu, items, filter);
  if (find !== '') items = findItems(menu, items, find);
  const matched = items.length;
  if (sort !== undefined) items = sortItems(menu, items, sort.by, sort.desc);
  return { total: set.length, matched, rows: items.slice(first, first + count).map(withId) };
}

/** Settings menus have no `.id`; deltas need one. */
function withId(row: RestRow): RestRow {
  return row['.id'] === undefined ? { '.id': '*0', ...row } : row;
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
