/** What to ask for so that items that were removed are there again. Pure. */
import type { Menu } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import { givenValues } from './item.ts';

type Values = Readonly<Record<string, string>>;

/**
 * Arguments to add items again, in an order in which each finds those that it names.
 *
 * @param rows the items as they were
 * @param order ids of the menu as it was, in its order
 */
export function additions(menu: Menu, rows: readonly Row[], order: readonly string[]): readonly Values[] {
  const places = new Map(order.map((id, place) => [id, place]));
  const placeOf = (row: Row) => places.get(row['.id'] ?? '') ?? order.length;
  const inOrder = rows.toSorted((a, b) => placeOf(a) - placeOf(b));
  const missing = new Set(inOrder.map((row) => row['.id'] ?? ''));
  const names = new Map(inOrder.map((row) => [row['.id'], row.name]));
  /** What stands behind a row: an item that stayed, by its id, or one that has been added again, by its name. */
  const nextTo = (row: Row): string | undefined => {
    const next = order.slice(placeOf(row) + 1).find((id) => !missing.has(id));
    return next === undefined ? undefined : (names.get(next) ?? next);
  };
  return parentsFirst(inOrder).map((row) => {
    const before = menu.commands.includes('move') ? nextTo(row) : undefined;
    if (row.name !== undefined) missing.delete(row['.id'] ?? '');
    return { ...givenValues(menu, row), ...(before !== undefined && { 'place-before': before }) };
  });
}

/** The rows, each behind the one that it is below. */
function parentsFirst(rows: readonly Row[]): readonly Row[] {
  const byName = new Map(rows.flatMap((row) => (row.name === undefined ? [] : [[row.name, row] as const])));
  const sorted = new Set<Row>();
  for (const row of rows) {
    const branch: Row[] = [];
    for (
      let next: Row | undefined = row;
      next !== undefined && !sorted.has(next) && !branch.includes(next);
      next = byName.get(next.parent ?? '')
    ) {
      branch.push(next);
    }
    for (const each of branch.toReversed()) sorted.add(each);
  }
  return [...sorted];
}
