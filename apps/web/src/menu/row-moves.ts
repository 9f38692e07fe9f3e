/** Positions of rows of an ordered menu when they are moved. Pure. */
import type { RowPosition } from '../api/commands.ts';

/** Arguments of the `move` command. */
export interface Move {
  /** Rows to move, in their order. */
  readonly ids: readonly string[];
  readonly position: RowPosition;
}

/** The order after a move; the same order when the row next to the target position no longer exists. */
export function reordered(order: readonly string[], { ids, position }: Move): readonly string[] {
  const moved = new Set(ids);
  const rest = order.filter((id) => !moved.has(id));
  const beside = rest.indexOf('before' in position ? position.before : position.after);
  if (beside < 0) return order;
  const at = 'before' in position ? beside : beside + 1;
  return [...rest.slice(0, at), ...ids, ...rest.slice(at)];
}

/**
 * The move that drops rows into the gap before position `gap` of `order`. Undefined when no row would move. The gap may
 * contain rows that are not shown: rows moved down stop above them, rows moved up below them.
 *
 * @param ids rows to move, in their order; some may be outside of `order`, which is then a part of the list
 */
export function dropAt(order: readonly string[], ids: readonly string[], gap: number): Move | undefined {
  if (ids.length === 0) return undefined;
  const moved = new Set(ids);
  const at = Math.max(gap, 0);
  const above = order.slice(0, at).findLast((id) => !moved.has(id));
  const below = order.slice(at).find((id) => !moved.has(id));
  const first = order.findIndex((id) => moved.has(id));
  const down = above !== undefined && first >= 0 && first < order.indexOf(above);
  const position =
    below !== undefined && !down ? { before: below } : above === undefined ? undefined : { after: above };
  if (position === undefined) return undefined;
  const move = { ids, position };
  return reordered(order, move).every((id, index) => id === order[index]) ? undefined : move;
}

/**
 * The move of the selected rows up or down by one row, as a block. Undefined at the end of the list.
 *
 * @param fixed number of rows at the start of `order` that cannot be moved
 */
export function step(order: readonly string[], selected: ReadonlySet<string>, by: -1 | 1, fixed = 0): Move | undefined {
  const first = order.findIndex((id) => selected.has(id));
  const last = order.findLastIndex((id) => selected.has(id));
  if (first < 0) return undefined;
  const ids = order.filter((id) => selected.has(id));
  if (by < 0) return dropAt(order, ids, Math.max(first - 1, fixed));
  return dropAt(order, ids, Math.min(last + 2, order.length));
}
