import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Draft, type RowChange, type StoredSnapshot } from '../../src/config/draft.js';
import { oldestToReplay } from '../../src/config/undo/order-without.js';
import { revert } from '../../src/config/undo/revert.js';
import { ranksOf } from '../../src/config/undo/revision.js';
import { ApiError } from '../../src/errors.js';

/** Tests of the order of rows after revisions were undone, in whatever order. */

const FILTER = '/ip/firewall/filter';
const CONTENT = { values: { chain: 'forward', action: 'accept' }, disabled: false, comment: '' };

interface Revision {
  readonly number: number;
  readonly undoes?: number;
  readonly changes: readonly RowChange[];
}

/** A list of rules and its history. */
class List {
  snapshot: StoredSnapshot = new Map();
  readonly revisions: Revision[] = [];
  #ids = 0;

  constructor(rows: number) {
    const draft = new Draft(this.snapshot, () => ++this.#ids);
    for (let row = 0; row < rows; row += 1) draft.add(FILTER, CONTENT);
    this.snapshot = draft.finish().snapshot;
  }

  get order(): readonly number[] {
    return (this.snapshot.get(FILTER) ?? []).map(({ id }) => id);
  }

  /** Returns the number of the revision, or `undefined` if nothing changed. */
  change(how: (draft: Draft) => void): number | undefined {
    const draft = new Draft(this.snapshot, () => ++this.#ids);
    how(draft);
    return this.#commit(draft);
  }

  async undo(number: number): Promise<number | undefined> {
    const ranks = this.revisions.map((revision) => ({
      ...ranksOf(revision),
      ...(revision.undoes !== undefined && { undoes: revision.undoes }),
    }));
    const newestFirst = ranks.toReversed();
    const later = newestFirst.filter((revision) => revision.number > number);
    const first = oldestToReplay(
      number,
      ranks.flatMap(({ number, undoes }) => (undoes === undefined ? [] : { number, undoes })),
    );
    const earlier = newestFirst.filter((revision) => revision.number < number && revision.number >= first);
    const past = this.revisions.find((revision) => revision.number === number);
    if (past === undefined) throw new Error(`no revision ${number}`);
    const draft = new Draft(this.snapshot, () => ++this.#ids);
    await revert(draft, this.snapshot, past, later, earlier, async function* () {});
    return this.#commit(draft, number);
  }

  #commit(draft: Draft, undoes?: number): number | undefined {
    const { snapshot, changes } = draft.finish();
    if (changes.length === 0) return undefined;
    this.snapshot = snapshot;
    const number = this.revisions.length + 1;
    this.revisions.push({ number, changes, ...(undoes !== undefined && { undoes }) });
    return number;
  }
}

const step = fc.record({
  what: fc.constantFrom('move', 'move', 'remove', 'add', 'undo', 'redo'),
  row: fc.nat(9),
  to: fc.nat(9),
});
const history = fc.record({
  rows: fc.integer({ min: 2, max: 6 }),
  steps: fc.array(step, { minLength: 1, maxLength: 8 }),
  /** Choices of the next revision to undo, among those that are left. */
  picks: fc.array(fc.nat(20), { minLength: 8, maxLength: 8 }),
});

/** Returns the revisions that were made and not undone again. */
async function carriedOut(list: List, steps: readonly { what: string; row: number; to: number }[]): Promise<number[]> {
  const made: number[] = [];
  const undone: { readonly number: number; readonly by: number }[] = [];
  for (const { what, row, to } of steps) {
    if (what === 'undo') {
      const [at, number = 0] = [row % made.length, made[row % made.length]];
      if (made.length === 0 || !(await reverted(list, number))) continue;
      made.splice(at, 1);
      undone.push({ number, by: list.revisions.length });
      continue;
    }
    if (what === 'redo') {
      const last = undone.at(-1);
      if (last === undefined || !(await reverted(list, last.by))) continue;
      undone.pop();
      made.push(last.number);
      continue;
    }
    const ids = list.order;
    const [one, other] = [ids[row % Math.max(1, ids.length)], ids[to]];
    const number = list.change((draft) => {
      if (what === 'add' || one === undefined) draft.add(FILTER, CONTENT, other);
      else if (what === 'move') draft.move(FILTER, [one], other);
      else draft.remove(FILTER, one);
    });
    if (number !== undefined) made.push(number);
  }
  return made;
}

/** Whether it is possible: not of a row that is gone with its addition, or that was moved again. */
async function reverted(list: List, number: number): Promise<boolean> {
  try {
    const undone = await list.undo(number);
    // One whose effect is there all the same, by what was done since, is not undone.
    fc.pre(undone !== undefined);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

describe('order after Undo', () => {
  it('of two removals, the older one first', async () => {
    const list = new List(4);
    const start = list.order;
    const [first = 0] = [list.change((draft) => draft.remove(FILTER, 2))];
    const [second = 0] = [list.change((draft) => draft.remove(FILTER, 1))];
    await list.undo(first);
    await list.undo(second);
    expect(list.order).toEqual(start);
  });

  it('of two moves, the older one first', async () => {
    const list = new List(4);
    const start = list.order;
    const [first = 0] = [list.change((draft) => draft.move(FILTER, [2]))];
    const [second = 0] = [list.change((draft) => draft.move(FILTER, [1]))];
    await list.undo(first);
    await list.undo(second);
    expect(list.order).toEqual(start);
  });

  it('all that was done is undone in any order: rows stand as at first', async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ rows, steps, picks }) => {
        const list = new List(rows);
        const start = list.order;
        const left = await carriedOut(list, steps);
        let refused = 0;
        for (let turn = 0; left.length > 0; turn += 1) {
          // What is refused for what came later is tried again after that.
          fc.pre(refused <= left.length);
          const at = refused > 0 ? left.length - refused : (picks[turn % picks.length] ?? 0) % left.length;
          if (await reverted(list, left[at] ?? 0)) {
            left.splice(at, 1);
            refused = 0;
          } else refused += 1;
        }
        expect(list.order).toEqual(start);
      }),
      { numRuns: 5 * (fc.readConfigureGlobal()?.numRuns ?? 100) },
    );
  });
});
