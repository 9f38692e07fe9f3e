import type { Changes } from '@tollway/protocol/live/menu';
import type { Condition } from '@tollway/protocol/live/window';
import { type Menu, menuColumn } from '@tollway/schema';
import { containing } from '../config/query.js';
import { type Indexes, upTo } from '../scheduling/merge-sort.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import { type RestRow, type RowSet, yesNo } from '../view/rows.js';
import { type Test, testOf } from './condition.js';
import type { MenuWindow } from './menu-window.js';
import { inOrder } from './order.js';
import { isTree, type TreeLine, treeLines } from './tree.js';

/** What a window shows at one moment. */
export interface WindowContent {
  /** Items of the menu. */
  readonly total: number;
  /** Items that pass filter and find; in a tree all that are shown. */
  readonly matched: number;
  /** How many of those are shown only for what is below them; undefined when none is. */
  readonly context?: number;
  /** Items are missing that the data plane alone knows: it does not answer. */
  readonly incomplete?: boolean;
  readonly rows: readonly RestRow[];
}

/** Evaluates a window. Cells outside of it are decoded only when filter, find or sort need them. */
export async function evaluate(
  menu: Menu,
  set: RowSet,
  window: MenuWindow,
  slicer = new TimeSlicer(),
): Promise<WindowContent> {
  const { first, count, sort } = window;
  if (oneAsked(set, window.filter) !== undefined) await set.prepareIds?.(slicer);
  await set.prepareValues?.((property) => looksAt(window, property), slicer);
  if (window.tree !== undefined && isTree(menu)) return evaluateTree(menu, set, window, slicer);
  let indexes = await found(menu, set, window, slicer);
  if (sort !== undefined) {
    const all = indexes ?? upTo(set.length);
    indexes = await inOrder(menu, set, all, sort, slicer);
  }
  const matched = indexes?.length ?? set.length;
  const names = window.columns === undefined ? undefined : shownProperties(menu, window.columns);
  const rows: RestRow[] = [];
  for (let place = first; place < Math.min(matched, first + count); place += 1) {
    const index = indexes?.[place] ?? place;
    const row = names === undefined ? set.row(index) : cells(set, index, names);
    rows.push(withId(row, menu.kind === 'ordered' && indexes !== undefined ? index : undefined));
  }
  return { total: set.length, matched, ...missing(set), rows };
}

/** Whether an evaluation may look at a property. */
const looksAt = ({ columns, find, filter, sort }: MenuWindow, property: string): boolean =>
  columns === undefined ||
  find !== '' ||
  columns.includes(property) ||
  filter.some(({ column }) => column === property) ||
  sort?.by.includes(property) === true;

const missing = ({ incomplete }: RowSet): Pick<WindowContent, 'incomplete'> => (incomplete ? { incomplete } : {});

/** Items that an evaluation walks through, because it sorts, filters or looks for a text: it holds the set until it has. */
export function itemsWalked(set: RowSet, { filter, find, sort, tree }: MenuWindow): number {
  const few = oneAsked(set, filter) !== undefined || (filter.length === 0 && find === '' && sort === undefined);
  return few && tree === undefined ? 0 : set.length;
}

/** Most cells that a window on a menu of `total` items can show. */
export function mostCells(menu: Menu, total: number, { first, count, columns }: MenuWindow): number {
  const names = columns === undefined ? Object.keys(menu.props) : shownProperties(menu, columns);
  return Math.max(0, Math.min(count, total - first)) * names.length;
}

/** The same, depth first; `matched` counts the lines. */
async function evaluateTree(menu: Menu, set: RowSet, window: MenuWindow, slicer: TimeSlicer): Promise<WindowContent> {
  const { first, count, sort, tree = { folded: false, except: new Set() } } = window;
  const passed = await found(menu, set, window, slicer);
  const all = upTo(set.length);
  const order = sort === undefined ? all : await inOrder(menu, set, all, sort, slicer);
  const lines = await treeLines(set, order, passed, tree, slicer);
  const names = window.columns === undefined ? undefined : shownProperties(menu, window.columns);
  const rows = lines.slice(first, first + count).map((line) => {
    const row = names === undefined ? set.row(line.index) : cells(set, line.index, names);
    return { ...withId(row, menu.kind === 'ordered' ? line.index : undefined), ...placeInTree(line) };
  });
  const context = lines.reduce((count, line) => count + (line.context ? 1 : 0), 0);
  return { total: set.length, matched: lines.length, ...(context > 0 && { context }), ...missing(set), rows };
}

const placeInTree = ({ above, children, open, context }: TreeLine): RestRow => ({
  '.above': above.join(','),
  '.children': String(children),
  ...(open !== undefined && { '.open': yesNo(open && children > 0) }),
  ...(context && { '.context': yesNo(true) }),
});

/** Indexes of the items that pass filter and find; `undefined`: all of them, in their order. */
async function found(
  menu: Menu,
  set: RowSet,
  { filter, find }: MenuWindow,
  slicer: TimeSlicer,
): Promise<Indexes | undefined> {
  if (filter.length === 0 && find === '') return undefined;
  const only = theOne(set, filter);
  const tests = filter.map((condition) => readerOf(set, testOf(menu, condition)));
  const holdsText = find === '' ? undefined : containing(menu, find);
  const passed: number[] = [];
  const { first, end } = only ?? { first: 0, end: set.length };
  for (let index = first; index < end; index += 1) {
    // Before each item: many conditions on one may take longer than a look at the clock.
    if (slicer.over) await slicer.pause();
    if (!tests.every((test) => test(index))) continue;
    if (holdsText === undefined || holdsText(set.row(index))) passed.push(index);
  }
  return Uint32Array.from(passed);
}

/** The condition that asks for one `.id`, as the window of an item does, where the set finds it without a walk. */
const oneAsked = (set: RowSet, filter: MenuWindow['filter']): Condition | undefined =>
  set.indexOf === undefined ? undefined : filter.find(({ column, op }) => column === '.id' && op === 'is');

/** Where to look when only one item is asked for. */
function theOne(set: RowSet, filter: MenuWindow['filter']): { first: number; end: number } | undefined {
  const asked = oneAsked(set, filter);
  if (asked === undefined) return undefined;
  const first = set.indexOf?.(asked.value);
  return first === undefined ? { first: 0, end: 0 } : { first, end: first + 1 };
}

/** A condition on the items of a set, by their places. Networks are compared as numbers where the set has them. */
function readerOf(set: RowSet, { property, holds, holdsRange }: Test): (index: number) => boolean {
  const range = holdsRange === undefined ? undefined : set.range?.(property);
  if (range === undefined || holdsRange === undefined) return (index) => holds(set.value(index, property));
  return (index) => holdsRange(range.first(index), range.last(index));
}

/** What is sent of an item when the window names its columns: those, its flags, its comment and what is wrong with it. */
function shownProperties(menu: Menu, columns: readonly string[]): readonly string[] {
  const properties = columns.flatMap((name) => menuColumn(menu, name)?.property ?? []);
  // Marks beside a row tell of its flags, its comment and its hint.
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
 * Settings menus have no `.id`; deltas need one. `position` is that of the item in the whole menu, where the window
 * does not tell it.
 */
function withId(row: RestRow, position: number | undefined): RestRow {
  const item = row['.id'] === undefined ? { '.id': '*0', ...row } : row;
  return position === undefined ? item : { ...item, '.nr': String(position) };
}

/** What turns `before` into `after`; `undefined` when they are equal. */
export function deltaOf(before: WindowContent, after: WindowContent): Changes | undefined {
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
