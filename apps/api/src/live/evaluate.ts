import type { Changes } from '@tollway/protocol/live/menu';
import type { Condition } from '@tollway/protocol/live/row-query';
import { isTree, type Menu, menuColumn } from '@tollway/schema';
import { containing } from '../query/query.js';
import { type Indexes, upTo } from '../scheduling/merge-sort.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import { type RestRow, type RowSet, yesNo } from '../view/rows.js';
import { type ColumnTest, columnTest } from './condition.js';
import type { RowQuery } from './row-query.js';
import { inOrder } from './sort-order.js';
import { type TreeLine, treeLines } from './tree-lines.js';

/** Result of a query. */
export interface QueryResult {
  /** Items of the menu. */
  readonly total: number;
  /** Number of items that pass filter and find; in a tree, of all lines. */
  readonly matched: number;
  /** Number of lines that are included only as ancestors of passing items; undefined for none. */
  readonly context?: number;
  /** True when items of the data plane are missing, as it does not answer. */
  readonly incomplete?: boolean;
  readonly rows: readonly RestRow[];
}

/** Evaluates a query. Only cells of the requested rows are decoded, and cells that filter, find and sort need. */
export async function evaluate(
  menu: Menu,
  set: RowSet,
  query: RowQuery,
  slicer = new TimeSlicer(),
): Promise<QueryResult> {
  const { first, count, sort } = query;
  if (idCondition(set, query.filter) !== undefined) await set.prepareIds?.(slicer);
  await set.prepareValues?.((property) => isRead(query, property), slicer);
  if (query.tree !== undefined && isTree(menu)) return evaluateTree(menu, set, query, slicer);
  let indexes = await passingItems(menu, set, query, slicer);
  if (sort !== undefined) {
    const all = indexes ?? upTo(set.length);
    indexes = await inOrder(menu, set, all, sort, slicer);
  }
  const matched = indexes?.length ?? set.length;
  const names = query.columns === undefined ? undefined : shownProperties(menu, query.columns);
  const rows: RestRow[] = [];
  for (let place = first; place < Math.min(matched, first + count); place += 1) {
    const index = indexes?.[place] ?? place;
    const row = names === undefined ? set.row(index) : cells(set, index, names);
    rows.push(withId(row, menu.kind === 'ordered' && indexes !== undefined ? index : undefined));
  }
  return { total: set.length, matched, ...incompleteness(set), rows };
}

/** Whether an evaluation may read a property. */
const isRead = ({ columns, find, filter, sort }: RowQuery, property: string): boolean =>
  columns === undefined ||
  find !== '' ||
  columns.includes(property) ||
  filter.some(({ column }) => column === property) ||
  sort?.by.includes(property) === true;

const incompleteness = ({ incomplete }: RowSet): Pick<QueryResult, 'incomplete'> => (incomplete ? { incomplete } : {});

/**
 * Number of items that an evaluation scans for its sort order, filter or text. The row set is kept in memory meanwhile.
 */
export function scannedItems(set: RowSet, { filter, find, sort, tree }: RowQuery): number {
  const few = idCondition(set, filter) !== undefined || (filter.length === 0 && find === '' && sort === undefined);
  return few && tree === undefined ? 0 : set.length;
}

/** Largest number of cells that a query on a menu of `total` items can return. */
export function maxCells(menu: Menu, total: number, { first, count, columns }: RowQuery): number {
  const names = columns === undefined ? Object.keys(menu.props) : shownProperties(menu, columns);
  return Math.max(0, Math.min(count, total - first)) * names.length;
}

/** Evaluates a query on a tree, depth first; `matched` counts lines. */
async function evaluateTree(menu: Menu, set: RowSet, query: RowQuery, slicer: TimeSlicer): Promise<QueryResult> {
  const { first, count, sort, tree = { folded: false, except: new Set() } } = query;
  const passed = await passingItems(menu, set, query, slicer);
  const all = upTo(set.length);
  const order = sort === undefined ? all : await inOrder(menu, set, all, sort, slicer);
  const lines = await treeLines(set, order, passed, tree, slicer);
  const names = query.columns === undefined ? undefined : shownProperties(menu, query.columns);
  const rows = lines.slice(first, first + count).map((line) => {
    const row = names === undefined ? set.row(line.index) : cells(set, line.index, names);
    return { ...withId(row, menu.kind === 'ordered' ? line.index : undefined), ...placeInTree(line) };
  });
  const context = lines.reduce((count, line) => count + (line.context ? 1 : 0), 0);
  return { total: set.length, matched: lines.length, ...(context > 0 && { context }), ...incompleteness(set), rows };
}

const placeInTree = ({ above, children, open, context }: TreeLine): RestRow => ({
  '.above': above.join(','),
  '.children': String(children),
  ...(open !== undefined && { '.open': yesNo(open && children > 0) }),
  ...(context && { '.context': yesNo(true) }),
});

/** Indexes of the items that pass filter and find; `undefined` for all, in their order. */
async function passingItems(
  menu: Menu,
  set: RowSet,
  { filter, find }: RowQuery,
  slicer: TimeSlicer,
): Promise<Indexes | undefined> {
  if (filter.length === 0 && find === '') return undefined;
  const only = singleRange(set, filter);
  const tests = filter.map((condition) => itemTest(set, columnTest(menu, condition)));
  const holdsText = find === '' ? undefined : containing(menu, find);
  const passed: number[] = [];
  const { first, end } = only ?? { first: 0, end: set.length };
  for (let index = first; index < end; index += 1) {
    // Checked before each item, as many conditions on one item may take long.
    if (slicer.over) await slicer.pause();
    if (!tests.every((test) => test(index))) continue;
    if (holdsText === undefined || holdsText(set.row(index))) passed.push(index);
  }
  return Uint32Array.from(passed);
}

/** The condition on `.id`, as in the subscription of a dialog, if the set has an index of ids. */
const idCondition = (set: RowSet, filter: RowQuery['filter']): Condition | undefined =>
  set.indexOf === undefined ? undefined : filter.find(({ column, op }) => column === '.id' && op === 'is');

/** The range of indexes to scan if there is such a condition. */
function singleRange(set: RowSet, filter: RowQuery['filter']): { first: number; end: number } | undefined {
  const asked = idCondition(set, filter);
  if (asked === undefined) return undefined;
  const first = set.indexOf?.(asked.value);
  return first === undefined ? { first: 0, end: 0 } : { first, end: first + 1 };
}

/** A condition on items by index. Networks are compared as numbers where the set supports it. */
function itemTest(set: RowSet, { property, holds, holdsRange }: ColumnTest): (index: number) => boolean {
  const range = holdsRange === undefined ? undefined : set.range?.(property);
  if (range === undefined || holdsRange === undefined) return (index) => holds(set.value(index, property));
  return (index) => holdsRange(range.first(index), range.last(index));
}

/** Properties to send for the requested columns: these properties, flags, comment and the reason for being invalid. */
function shownProperties(menu: Menu, columns: readonly string[]): readonly string[] {
  const properties = columns.flatMap((name) => menuColumn(menu, name)?.property ?? []);
  // The marks at the left of a row show its flags, comment and hint.
  return [...new Set(['.id', '.about', 'comment', 'hint', ...menu.flags.map(({ prop }) => prop), ...properties])];
}

/** Some properties of an item. */
function cells(set: RowSet, index: number, names: readonly string[]): RestRow {
  const item: Record<string, string> = {};
  for (const name of names) {
    const value = set.value(index, name);
    if (value !== undefined) item[name] = value;
  }
  return item;
}

/**
 * Adds an `.id`, which rows of settings menus lack and deltas need. `position` is the index of the item in the whole
 * menu, if it differs from the index in the result.
 */
function withId(row: RestRow, position: number | undefined): RestRow {
  const item = row['.id'] === undefined ? { '.id': '*0', ...row } : row;
  return position === undefined ? item : { ...item, '.nr': String(position) };
}

/** The changes from `before` to `after`; `undefined` when they are equal. */
export function deltaOf(before: QueryResult, after: QueryResult): Changes | undefined {
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
  const names = ['total', 'matched', 'context', 'incomplete'] as const;
  const counted = names.every((name) => before[name] === after[name]);
  if (same && counted) return undefined;
  return {
    ...(reordered && { order: after.rows.map((row) => row['.id'] ?? '') }),
    set,
    ...(hasUnset && { unset }),
    remove,
  };
}
