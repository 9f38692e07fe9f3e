import type { TimeSlicer } from '../../scheduling/time-slicer.js';
import type { StoredSnapshot } from '../draft.js';
import { RANK_STEP } from '../ranks.js';
import type { RevisionRanks } from './revision.js';
import { movedBetween, reinsert } from './row-order.js';

/**
 * The order that the rows of a menu would have without some revisions: the other revisions since the oldest of those are
 * replayed. So the order in which revisions are undone does not matter.
 */

/**
 * Revisions without effect once `past` is undone: it, those that are undone already, and the undo revisions of those. A
 * revision whose undo was undone itself has its effect.
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

/** The first revision to replay for the undo of one: none from there on undid an earlier one. */
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
 * @param revisions newest first, back to the first of those that are left out
 * @param numbers of the revisions to leave out
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
  /** The order without the revisions; undefined while it equals that of the ranks. */
  let order: readonly number[] | undefined;
  /** Rows that the left-out revisions changed. */
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

/** Reverts the ranks of a revision in `ranks`. Returns what it had changed. */
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

/** Sets the ranks of a revision in `ranks`, which are those before it. */
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

/** Number up to which rows are inserted one by one, as lists may be long and revisions many. */
const FEW = 8;

/**
 * Order of {@link replayMoves} for few rows: each goes before the one that it was put before.
 * @param ranks after the step
 * @returns `undefined` if that one is one of `touched`, which may stand anywhere.
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

/** Rows that a revision moved; of one that gave ranks anew, as few as make its order. */
function movedBy(old: ReadonlyMap<number, number>, left: ReadonlyMap<number, number>): ReadonlySet<number> {
  const other = [...left].filter(([id, rank]) => old.has(id) && old.get(id) !== rank).map(([id]) => id);
  const anew = [...left.values()].every((rank, index) => rank === (index + 1) * RANK_STEP);
  return anew ? movedBetween([...old.keys()], [...left.keys()]) : new Set(other);
}

/** Applies the moves of a revision to another order than the one it was made in. */
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
