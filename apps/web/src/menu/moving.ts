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

/** Drops rows into the gap before position `gap` of `order`. Undefined when nothing would move. */
export function dropAt(order: readonly string[], selected: ReadonlySet<string>, gap: number): Move | undefined {
  const ids = order.filter((id) => selected.has(id));
  const destination = order.slice(gap).find((id) => !selected.has(id));
  if (ids.length === 0) return undefined;
  const move = { ids, destination };
  return reordered(order, move).every((id, index) => id === order[index]) ? undefined : move;
}

/** Moves the selected rows one place up or down, as one block. Undefined at the end of the list. */
export function step(order: readonly string[], selected: ReadonlySet<string>, by: -1 | 1): Move | undefined {
  const first = order.findIndex((id) => selected.has(id));
  const last = order.findLastIndex((id) => selected.has(id));
  if (first < 0) return undefined;
  if (by < 0) return first === 0 ? dropAt(order, selected, 0) : dropAt(order, selected, first - 1);
  return dropAt(order, selected, Math.min(last + 2, order.length));
}
