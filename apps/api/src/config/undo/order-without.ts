import type { TimeSlicer } from '../../scheduling/time-slicer.js';
import type { StoredSnapshot } from '../draft.js';
import { RANK_STEP } from '../ranks.js';
import type { RevisionRanks } from './revision.js';
import { movedBetween, reinsert } from './row-order.js';

/**
 * The order that the rows of a menu would have without some revisions: all other revisions, from the oldest of the
 * omitted ones on, are replayed. So the order in which revisions are undone does not matter.
 */

/**
 * Revisions without effect once `past` is undone: `past` itself, the revisions that are already undone, and the
 * revisions that undid them. A revision has its effect again once its undo has been undone.
 * @param revisions newest first
 */
export function ineffectiveRevisions(
  past: number,
  revisions: readonly Pick<RevisionRanks, 'number' | 'undoes'>[],
): ReadonlySet<number> {
  const known = new Set(revisions.map(({ number }) => number));
  const undone = new Set([past]);
  const undoing: number[] = [];
  for (const { number, undoes } of revisions) {
    // The undo of a revision that is no longer stored counts as an ordinary revision.
    if (undoes === undefined || !known.has(undoes)) continue;
    undoing.push(number);
    if (!undone.has(number)) undone.add(undoes);
  }
  return new Set([...undone, ...undoing]);
}

/** A revision that is the undo of another one. */
export type Undoing = Required<Pick<RevisionRanks, 'number' | 'undoes'>>;

/** The oldest revision to replay for the undo of `past`: no revision from there on undid an earlier one. */
export function oldestToReplay(past: number, undoing: readonly Undoing[]): number {
  let first = past;
  for (const { number, undoes } of undoing.toSorted((a, b) => b.number - a.number)) {
    if (number >= first) first = Math.min(first, undoes);
  }
  return first;
}

/** Revisions that are undone at present, with the revisions that undid them. An undo may have been undone itself. */
export function revertedBy(undoing: readonly Undoing[]): ReadonlyMap<number, number> {
  const by = new Map<number, number>();
  for (const { number, undoes } of undoing.toSorted((a, b) => b.number - a.number)) {
    if (!by.has(number) && !by.has(undoes)) by.set(undoes, number);
  }
  return by;
}

/** Ids in the order of their ranks. */
export const inOrder = (ranks: ReadonlyMap<number, number>): ReadonlyMap<number, number> =>
  new Map([...ranks].toSorted(([, a], [, b]) => a - b));

/** The changes of ranks by a revision; `undefined` where the row did not exist. */
interface RankChanges {
  readonly number: number;
  readonly ranks: readonly {
    readonly id: number;
    readonly before: number | undefined;
    readonly after: number | undefined;
  }[];
}

/**
 * The rows of a menu in the order without some revisions, including rows that exist only without them.
 * @param revisions newest first, back to the oldest omitted one
 * @param numbers numbers of the revisions to omit
 */
export async function orderWithout(
  now: StoredSnapshot,
  menu: string,
  revisions: readonly RevisionRanks[],
  numbers: ReadonlySet<number>,
  slicer: TimeSlicer,
): Promise<readonly number[]> {
  const ranks = new Map((now.get(menu) ?? []).map(({ id, rank }) => [id, rank]));
  const steps = revisions.map((revision) => revertRanks(ranks, menu, revision)).filter(({ ranks }) => ranks.length > 0);
  /** The order without the omitted revisions; undefined while it equals the order of the ranks. */
  let order: readonly number[] | undefined;
  /** Rows that the omitted revisions changed. */
  const touched = new Set<number>();
  for (const step of steps.toReversed()) {
    if (slicer.over) await slicer.pause();
    if (numbers.has(step.number)) {
      order ??= [...inOrder(ranks).keys()];
      applyRanks(ranks, step);
      for (const { id } of step.ranks) touched.add(id);
      const present = [...inOrder(ranks).keys()];
      // A revision and its undo cancel each other out.
      if (order.length === present.length && order.every((id, at) => id === present[at])) {
        order = undefined;
        touched.clear();
      }
    } else {
      const few = step.ranks.length <= FEW && step.ranks.length * 2 < ranks.size;
      const old = order === undefined || few ? undefined : inOrder(ranks);
      applyRanks(ranks, step);
      if (order === undefined) continue;
      const some = old === undefined ? replayFewMoves(order, step, ranks, touched) : undefined;
      order = some ?? replayMoves(order, step, old ?? inOrder(before(ranks, step)), inOrder(ranks));
    }
  }
  return order ?? [...inOrder(ranks).keys()];
}

/** Reverts the rank changes of a revision in `ranks`. Returns these changes. */
function revertRanks(ranks: Map<number, number>, menu: string, { number, changes }: RevisionRanks): RankChanges {
  const reverted: RankChanges['ranks'][number][] = [];
  for (const change of changes) {
    if (change.menu !== menu) continue;
    const { id } = change;
    const [before, after] = [change.before?.rank, ranks.get(id)];
    if (before !== after) reverted.push({ id, before, after });
    if (before === undefined) ranks.delete(id);
    else ranks.set(id, before);
  }
  return { number, ranks: reverted };
}

/** Applies the rank changes of a revision to `ranks`, which holds the ranks before the revision. */
function applyRanks(ranks: Map<number, number>, step: RankChanges): void {
  for (const { id, after } of step.ranks) {
    if (after === undefined) ranks.delete(id);
    else ranks.set(id, after);
  }
}

/** Ranks before a step, computed from those after it. */
function before(ranks: ReadonlyMap<number, number>, step: RankChanges): ReadonlyMap<number, number> {
  const old = new Map(ranks);
  for (const { id, before } of step.ranks) {
    if (before === undefined) old.delete(id);
    else old.set(id, before);
  }
  return old;
}

/** Maximum number of rows that are inserted one by one, as lists may be long and revisions many. */
const FEW = 8;

/**
 * Order of {@link replayMoves} for few rows: each row is put before the row that the revision put it before.
 * @param ranks ranks after the step
 * @returns `undefined` if one of those successors is in `touched`: its position is then unreliable.
 */
function replayFewMoves(
  order: readonly number[],
  step: RankChanges,
  ranks: ReadonlyMap<number, number>,
  touched: ReadonlySet<number>,
): readonly number[] | undefined {
  const own = new Set(step.ranks.map(({ id }) => id));
  const result = order.filter((id) => !own.has(id));
  const placed = step.ranks.flatMap(({ id, after }) => (after === undefined ? [] : { id, after }));
  for (const { id, after } of placed.toSorted((a, b) => b.after - a.after)) {
    let [next, least] = [-1, Number.POSITIVE_INFINITY];
    for (const [other, rank] of ranks) if (rank > after && rank < least) [next, least] = [other, rank];
    if (touched.has(next)) return undefined;
    const at = next === -1 ? result.length : result.indexOf(next);
    if (at === -1) return undefined;
    result.splice(at, 0, id);
  }
  return result;
}

/** Rows that a revision moved. If it reassigned all ranks: the fewest rows whose moves lead to the new order. */
function movedBy(old: ReadonlyMap<number, number>, left: ReadonlyMap<number, number>): ReadonlySet<number> {
  const other = [...left].filter(([id, rank]) => old.has(id) && old.get(id) !== rank).map(([id]) => id);
  const anew = [...left.values()].every((rank, index) => rank === (index + 1) * RANK_STEP);
  return anew ? movedBetween([...old.keys()], [...left.keys()]) : new Set(other);
}

/** Applies the moves of a revision to an order other than the original one. */
function replayMoves(
  order: readonly number[],
  { ranks }: RankChanges,
  old: ReadonlyMap<number, number>,
  left: ReadonlyMap<number, number>,
): readonly number[] {
  const gone = new Set(ranks.flatMap(({ id, after }) => (after === undefined ? [id] : [])));
  const come = ranks.flatMap(({ id, before }) => (before === undefined ? [id] : []));
  const placed = new Set([...come, ...movedBy(old, left)]);
  const rest = order.filter((id) => !gone.has(id));
  return reinsert(rest, [...left.keys()], placed);
}
