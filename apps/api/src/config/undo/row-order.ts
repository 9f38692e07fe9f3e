/**
 * Order of rows in a list: which rows were moved, and how to move them back. Lists consist of row ids without
 * duplicates.
 */

/**
 * Rows of both lists that must be moved to get from one order to the other: as few as possible. All others are a
 * longest common subsequence, which for lists without duplicates is a longest increasing subsequence.
 */
export function movedBetween(from: readonly number[], to: readonly number[]): ReadonlySet<number> {
  const places = new Map(from.map((id, place) => [id, place]));
  const common = to.flatMap((id) => {
    const place = places.get(id);
    return place === undefined ? [] : [{ id, place }];
  });
  /** For each length of an increasing run, the index of its lowest possible last element. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [index, { place }] of common.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((common[ends[middle] ?? 0]?.place ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    previous.push(low === 0 ? -1 : (ends[low - 1] ?? -1));
    ends[low] = index;
  }
  const moved = new Set(common.map(({ id }) => id));
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) moved.delete(common[at]?.id ?? -1);
  return moved;
}

/** Rows of both lists whose neighbours differ. Rows that are in one list only are ignored. */
export function withOtherNeighbours(from: readonly number[], to: readonly number[]): ReadonlySet<number> {
  const [before, after] = [new Set(from), new Set(to)];
  const old = from.filter((id) => after.has(id));
  const now = to.filter((id) => before.has(id));
  const places = new Map(old.map((id, place) => [id, place]));
  return new Set(
    now.filter((id, at) => {
      const place = places.get(id) ?? -1;
      return old[place - 1] !== now[at - 1] || old[place + 1] !== now[at + 1];
    }),
  );
}

/**
 * Puts rows back before the rows that followed them: each before the first of its former successors that is in the list
 * and has not itself been moved.
 * @param order the list; it may contain rows of `placed`
 * @param then the former order, which contains all rows of `placed`
 */
export function reinsert(
  order: readonly number[],
  then: readonly number[],
  placed: ReadonlySet<number>,
): readonly number[] {
  const staying = order.filter((id) => !placed.has(id));
  const present = new Set(staying);
  const elsewhere = movedBetween(then, staying);
  /** Rows to insert before a row, in reverse order; those under `undefined` go to the end. */
  const groups = new Map<number | undefined, number[]>();
  let anchor: number | undefined;
  for (const id of then.toReversed()) {
    if (placed.has(id)) {
      const group = groups.get(anchor);
      if (group === undefined) groups.set(anchor, [id]);
      else group.push(id);
    } else if (present.has(id) && !elsewhere.has(id)) anchor = id;
  }
  const group = (id: number | undefined) => groups.get(id)?.toReversed() ?? [];
  return [...staying.flatMap((id) => [...group(id), id]), ...group(undefined)];
}
