/** Where rows of an ordered menu go when they are moved. Pure. */

/** Arguments of the `move` command. */
export interface Move {
  /** Rows to move, in their order. */
  readonly ids: readonly string[];
  /** The row that they go before; the end of the list without one. */
  readonly destination: string | undefined;
}

/** The order after a move; the same order when the destination has gone. */
export function reordered(order: readonly string[], { ids, destination }: Move): readonly string[] {
  const moved = new Set(ids);
  const rest = order.filter((id) => !moved.has(id));
  const at = destination === undefined ? rest.length : rest.indexOf(destination);
  if (at < 0) return order;
  return [...rest.slice(0, at), ...ids, ...rest.slice(at)];
}

/**
 * Drops rows into the gap before position `gap` of `order`. Undefined when nothing would move.
 *
 * @param ids rows to move, in their order; they may lie outside of `order`, which then is part of the list
 */
export function dropAt(order: readonly string[], ids: readonly string[], gap: number): Move | undefined {
  const moved = new Set(ids);
  const destination = order.slice(Math.max(gap, 0)).find((id) => !moved.has(id));
  if (ids.length === 0) return undefined;
  const move = { ids, destination };
  return reordered(order, move).every((id, index) => id === order[index]) ? undefined : move;
}

/**
 * Moves the selected rows one place up or down, as one block. Undefined at the end of the list.
 *
 * @param fixed rows at the start of `order` that stay there
 */
export function step(order: readonly string[], selected: ReadonlySet<string>, by: -1 | 1, fixed = 0): Move | undefined {
  const first = order.findIndex((id) => selected.has(id));
  const last = order.findLastIndex((id) => selected.has(id));
  if (first < 0) return undefined;
  const ids = order.filter((id) => selected.has(id));
  if (by < 0) return dropAt(order, ids, Math.max(first - 1, fixed));
  return dropAt(order, ids, Math.min(last + 2, order.length));
}
