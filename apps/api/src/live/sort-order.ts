import { columnValue, compareTexts, type Kind, type Menu, menuColumn } from '@tollway/schema';
import { sortNumber } from '../query/sort-number.js';
import { type Compare, type Indexes, sorted, upTo } from '../scheduling/merge-sort.js';
import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { RowSet } from '../view/rows.js';
import type { SortOrder } from './row-query.js';

/** Separator of columns that are sorted by their sum. */
const SUM = '+';

/**
 * Indexes of items in the order of a column, or of the sum of several (`rate.upload+rate.download`). Equal items keep
 * their order. Items without a value come last, in either direction.
 */
export async function inOrder(
  menu: Menu,
  set: RowSet,
  indexes: Indexes,
  { by, desc }: SortOrder,
  slicer: TimeSlicer,
): Promise<Indexes> {
  const compare = (await numericOrder(set, indexes, by, slicer)) ?? (await cellOrder(menu, set, indexes, by, slicer));
  const sign = desc ? -1 : 1;
  const places = await sorted(
    upTo(indexes.length),
    (a, b) => compare.missing(a, b) || sign * compare.values(a, b) || a - b,
    slicer,
  );
  return places.map((place) => indexes[place] ?? 0);
}

/** Order of two items, by their indexes. */
interface Order {
  readonly missing: Compare;
  readonly values: Compare;
}

async function numericOrder(set: RowSet, indexes: Indexes, by: string, slicer: TimeSlicer): Promise<Order | undefined> {
  const reads = by.split(SUM).flatMap((column) => set.sortNumbers?.(column) ?? []);
  if (reads.length !== by.split(SUM).length) return undefined;
  const numbers = new Float64Array(indexes.length);
  for (const [place, index] of indexes.entries()) {
    if (slicer.overAt(place)) await slicer.pause();
    for (const read of reads) numbers[place] = (numbers[place] ?? 0) + read(index);
  }
  return { missing: () => 0, values: (a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0) };
}

async function cellOrder(menu: Menu, set: RowSet, indexes: Indexes, by: string, slicer: TimeSlicer): Promise<Order> {
  const cells = cellsOf(menu, set, by);
  const texts: (string | undefined)[] = [];
  const numbers = new Float64Array(indexes.length);
  let numeric = true;
  for (const [place, index] of indexes.entries()) {
    if (slicer.overAt(place)) await slicer.pause();
    const text = cells.text(index);
    texts.push(text);
    const number = text === undefined ? 0 : sortNumber(cells.kind, text);
    if (number === undefined) numeric = false;
    else numbers[place] = number;
  }
  const { compare = compareTexts } = cells.kind;
  return {
    missing: (a, b) => Number(texts[a] === undefined) - Number(texts[b] === undefined),
    values: numeric
      ? (a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0)
      : (a, b) => compare(texts[a] ?? '', texts[b] ?? ''),
  };
}

interface SortCells {
  readonly kind: Pick<Kind, 'compare' | 'sortKey' | 'valueWhenUnset'>;
  text(index: number): string | undefined;
}

function cellsOf(menu: Menu, set: RowSet, by: string): SortCells {
  if (by.includes(SUM)) return sumOf(by.split(SUM).map((column) => cellsOf(menu, set, column)));
  // Ids are in ascending order as hexadecimal numbers.
  if (by === '.id') {
    return { kind: {}, text: (index) => String(Number.parseInt(set.id(index).slice(1), 16)) };
  }
  const column = menuColumn(menu, by);
  // An unknown column leaves the order as it is.
  if (column === undefined) return { kind: {}, text: () => undefined };
  const { valueWhenUnset } = column.kind;
  return {
    kind: column.kind,
    text: (index) => columnValue(column, set.value(index, column.property)) ?? valueWhenUnset,
  };
}

/** The sum of numbers; undefined for an item without any of them. */
function sumOf(columns: readonly SortCells[]): SortCells {
  return {
    kind: {},
    text(index) {
      const numbers = columns.flatMap(({ kind, text }) => sortNumber(kind, text(index) ?? '') ?? []);
      return numbers.length === 0 ? undefined : String(numbers.reduce((sum, number) => sum + number, 0));
    },
  };
}
