import type { Kind } from '@tollway/schema';

/** Order of two values of a kind. */
export const order = (kind: Kind, a: string, b: string): number =>
  kind.compare ? kind.compare(a, b) : a < b ? -1 : a > b ? 1 : 0;

/** A number in the order of a kind's values, where they have one: sorting by it costs no parsing. */
export const sortNumber = (kind: Pick<Kind, 'sortKey'>, cell: string): number | undefined =>
  /^\d{1,15}$/.test(cell) ? Number(cell) : kind.sortKey?.(cell);
