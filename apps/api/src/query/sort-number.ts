import type { Kind } from '@tollway/schema';

/** A number in the order of a kind's values, if the kind has one: sorting by it needs no parsing. */
export const sortNumber = (kind: Pick<Kind, 'sortKey'>, cell: string): number | undefined =>
  /^\d{1,15}$/.test(cell) ? Number(cell) : kind.sortKey?.(cell);
