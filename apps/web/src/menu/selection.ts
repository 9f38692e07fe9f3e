/** Selected rows, and the row with the keyboard focus. Pure. */

export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** The row with the keyboard focus. */
  readonly focus: string | undefined;
  /** Start of a range that is being extended. */
  readonly anchor: string | undefined;
}

export const noSelection: Selection = { ids: new Set(), focus: undefined, anchor: undefined };

/** Selects nothing, and moves the keyboard focus to a row. */
export function focusOnly(id: string | undefined): Selection {
  return { ids: new Set(), focus: id, anchor: id };
}

/** Selects one row and nothing else. */
export function selectOnly(id: string): Selection {
  return { ids: new Set([id]), focus: id, anchor: id };
}

/** Adds a row to the selection, or removes it. */
export function toggle(selection: Selection, id: string): Selection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { ids, focus: id, anchor: id };
}

/** Selects from the anchor to `id` in the given order; other rows are deselected unless `keep` is true. */
export function extendTo(selection: Selection, order: readonly string[], id: string, keep = false): Selection {
  const anchor = selection.anchor ?? id;
  const from = order.indexOf(anchor);
  const to = order.indexOf(id);
  if (from < 0 || to < 0) return selectOnly(id);
  const range = order.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ids: new Set(keep ? [...selection.ids, ...range] : range), focus: id, anchor };
}

/** A range that ends at `id`, while the rows in between are unknown: no row is deselected, and the anchor stays. */
export function extendBeyondLoaded({ ids, anchor }: Selection, id: string): Selection {
  return { ids: new Set([...ids, id]), focus: id, anchor };
}

/** Selects everything in `order`; the keyboard focus stays. */
export function selectAll(selection: Selection, order: readonly string[]): Selection {
  return { ids: new Set(order), focus: selection.focus ?? order[0], anchor: order[0] };
}

/**
 * Deselects rows that are not in `order`. Returns the same object if all rows are in it. If the first row of a range is
 * not, the range begins at the end of its remaining rows.
 */
export function retain(selection: Selection, order: readonly string[]): Selection {
  const present = new Set(order);
  const keeps = (id: string | undefined) => (id !== undefined && present.has(id) ? id : undefined);
  const ids = new Set([...selection.ids].filter((id) => present.has(id)));
  const focus = keeps(selection.focus);
  const left = order.filter((id) => ids.has(id));
  const anchor = keeps(selection.anchor) ?? (left[0] === focus ? left.at(-1) : left[0]);
  if (ids.size === selection.ids.size && focus === selection.focus && anchor === selection.anchor) return selection;
  return { ids, focus, anchor };
}

/** Deselects rows that no longer exist. */
export function excludeGone(selection: Selection, gone: ReadonlySet<string>): Selection {
  const keeps = (id: string | undefined) => (id !== undefined && gone.has(id) ? undefined : id);
  const ids = new Set([...selection.ids].filter((id) => !gone.has(id)));
  return { ids, focus: keeps(selection.focus), anchor: keeps(selection.anchor) };
}

/** The selected rows in the given order; if it does not contain all of them, in the order of selection. */
export function inOrder(selection: Selection, order: readonly string[]): readonly string[] {
  const known = order.filter((id) => selection.ids.has(id));
  return known.length === selection.ids.size ? known : [...selection.ids];
}
