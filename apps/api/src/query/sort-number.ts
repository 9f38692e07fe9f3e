import type { Kind } from '@tollway/schema';

/** A number in the order of a kind's values, where they have one: sorting by it costs no parsing. */
export const sortNumber = (kind: Pick<Kind, 'sortKey'>, cell: string): number | undefined =>
  /^\d{1,15}$/.test(cell) ? Number(cell) : kind.sortKey?.(cell);
