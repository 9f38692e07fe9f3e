/** Distance between the ranks of neighbours, so that a row can be inserted between them without changing theirs. */
export const RANK_STEP = 1024;

/**
 * Ranks for rows in a new order.
 * @param ranks present ranks in the new order; `undefined` for rows that were added or moved.
 * @returns strictly ascending ranks; those given stay as they are unless a gap is too narrow, then all are
 * given anew.
 */
export function assignRanks(ranks: readonly (number | undefined)[]): number[] {
  const result: number[] = [];
  let last: number | undefined;
  for (let index = 0; index < ranks.length; ) {
    const rank = ranks[index];
    if (rank !== undefined) {
      if (last !== undefined && rank <= last) return renumbered(ranks.length);
      result.push(rank);
      last = rank;
      index += 1;
      continue;
    }
    let end = index;
    while (end < ranks.length && ranks[end] === undefined) end += 1;
    const missing = end - index;
    const next = ranks[end];
    const first = last ?? (next === undefined ? 0 : next - RANK_STEP * (missing + 1));
    const step = next === undefined ? RANK_STEP : Math.floor((next - first) / (missing + 1));
    if (step < 1) return renumbered(ranks.length);
    for (let n = 1; n <= missing; n += 1) result.push(first + n * step);
    last = result.at(-1);
    index = end;
  }
  return result;
}

function renumbered(count: number): number[] {
  return Array.from({ length: count }, (_, index) => (index + 1) * RANK_STEP);
}
