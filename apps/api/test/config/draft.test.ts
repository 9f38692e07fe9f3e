import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Draft, type StoredRow, withoutRenumbered } from '../../src/config/draft.js';
import { assignRanks, RANK_STEP } from '../../src/config/ranks.js';

const MENU = '/ip/firewall/filter';
const content = (comment: string) => ({ values: { chain: 'forward' }, disabled: false, comment });

/** A model of an ordered menu: ids in a list. */
function modelMove(ids: readonly number[], moved: readonly number[], destination: number | undefined): number[] {
  const moving = new Set(moved);
  const rest = ids.filter((id) => !moving.has(id));
  const from = destination === undefined ? ids.length : ids.indexOf(destination);
  const anchor = ids.slice(from).find((id) => !moving.has(id));
  rest.splice(anchor === undefined ? rest.length : rest.indexOf(anchor), 0, ...moving);
  return rest;
}

type Operation =
  | { op: 'add'; before: number }
  | { op: 'move'; picks: number[]; before: number }
  | { op: 'remove'; pick: number };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ op: fc.constant('add' as const), before: fc.nat(12) }),
  fc.record({
    op: fc.constant('move' as const),
    picks: fc.oneof(
      fc.nat(8).map((pick) => [pick]),
      fc.uniqueArray(fc.nat(12), { minLength: 1, maxLength: 5 }),
    ),
    before: fc.nat(12),
  }),
  fc.record({ op: fc.constant('remove' as const), pick: fc.nat(12) }),
);

const commit = fc.oneof(
  operation.map((only) => [only]),
  fc.array(operation, { maxLength: 6 }),
);

/** Rows as many commits leave them: here there is no room between two of them, there they have just got ranks anew. */
const start: fc.Arbitrary<readonly StoredRow[]> = fc
  .uniqueArray(
    fc.oneof(
      fc.integer({ min: 1, max: 6 }).map((place) => place * RANK_STEP),
      fc.integer({ min: 1, max: 4 }),
    ),
    { maxLength: 8 },
  )
  .map((ranks) => ranks.toSorted((a, b) => a - b).map((rank, index) => ({ id: index + 1, ...content(''), rank })));

describe('a draft', () => {
  it('orders rows as a list would, with strictly ascending ranks, over any commits', () => {
    fc.assert(
      fc.property(start, fc.array(commit, { maxLength: 12 }), (stored, commits) => {
        let snapshot: ReadonlyMap<string, readonly StoredRow[]> = new Map([[MENU, stored]]);
        let model = stored.map(({ id }) => id);
        let next = stored.length + 1;
        for (const operations of commits) {
          const draft = new Draft(snapshot, () => next++);
          for (const step of operations) {
            // Places beyond the end stand for "at the end".
            if (step.op === 'add') {
              const before = model[step.before];
              const id = draft.add(MENU, content(''), before);
              model.splice(before === undefined ? model.length : step.before, 0, id);
            } else if (step.op === 'move') {
              const ids = step.picks.flatMap((pick) => model[pick] ?? []);
              draft.move(MENU, ids, model[step.before]);
              model = modelMove(model, ids, model[step.before]);
            } else {
              const id = model[step.pick];
              if (id === undefined) continue;
              draft.remove(MENU, id);
              model = model.filter((each) => each !== id);
            }
          }
          const before = new Map((snapshot.get(MENU) ?? []).map((row) => [row.id, row]));
          const finished = draft.finish();
          const rows = finished.snapshot.get(MENU) ?? [];
          expect(rows.map((row) => row.id)).toEqual(model);
          expect(rows.every((row, index) => index === 0 || row.rank > (rows[index - 1]?.rank ?? 0))).toBe(true);
          // The changes lead from the old rows to the new ones.
          for (const { id, before: old, after } of finished.changes) {
            expect(before.get(id)).toEqual(old);
            if (after === undefined) before.delete(id);
            else before.set(id, after);
          }
          expect(new Map(rows.map((row) => [row.id, row]))).toEqual(before);
          // What gave rows another order did so to some row, which tells of it and is what Undo reverts.
          if (finished.changes.length > 0) expect(withoutRenumbered(finished.changes)).not.toEqual([]);
          snapshot = finished.snapshot;
        }
      }),
    );
  });

  it('has moved a row that gets, as all get ranks anew, the one that it had', () => {
    const ranks = [1, 2, 2 * RANK_STEP];
    const rows = ranks.map((rank, index) => ({ id: index + 1, ...content(''), rank }));
    const draft = new Draft(new Map([[MENU, rows]]), () => 4);
    draft.move(MENU, [3], 2);
    const { snapshot, changes } = draft.finish();
    expect(snapshot.get(MENU)?.map(({ id, rank }) => [id, rank])).toEqual([
      [1, RANK_STEP],
      [3, 2 * RANK_STEP],
      [2, 3 * RANK_STEP],
    ]);
    expect(withoutRenumbered(changes)).toMatchObject([{ id: 3, before: { rank: 2 * RANK_STEP } }]);
    expect(changes).toHaveLength(3);
  });

  it('keeps to itself until it is finished, and is no change when it ends where it began', () => {
    const first = new Draft(new Map(), () => 1);
    first.add(MENU, content('a'));
    const { snapshot } = first.finish();
    const second = new Draft(snapshot, () => 2);
    second.add(MENU, content('b'));
    second.set(MENU, 1, content('changed'));
    expect(snapshot.get(MENU)?.map((row) => row.comment)).toEqual(['a']);
    second.remove(MENU, 2);
    second.set(MENU, 1, content('a'));
    expect(second.finish().changes).toEqual([]);
  });
});

describe('ranks', () => {
  it('touch only what was moved while there is room', () => {
    expect(assignRanks([1024, undefined, 2048])).toEqual([1024, 1536, 2048]);
    expect(assignRanks([undefined, 1024])).toEqual([0, 1024]);
    expect(assignRanks([1024, undefined])).toEqual([1024, 2048]);
    expect(assignRanks([1, undefined, 2])).toEqual([1024, 2048, 3072]);
  });
});
