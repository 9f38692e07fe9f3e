import type { Given } from '@tollway/schema';
import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { StoredRow, StoredSnapshot } from './draft.js';
import { given, MANGLE, MARKS, type Namer, namersOf, type Use } from './in-use.js';
import { storageOf } from './items.js';
import type { PastRevision, RowBefore } from './past.js';
import { perMenu, type RowsOf } from './renames.js';

/**
 * Marks that go when a revision is taken back. Rows may name a mark before any rule gives it: those that did so before the
 * revision are left with what they had then, and are no reason to keep it. Those that name it since then are.
 */

/** Ids of the mangle rules that give each mark of a kind. */
export type MarkSetters = (named: Given) => Promise<ReadonlyMap<string, readonly number[]>>;

/** The rules that give marks now; they are gone through once for each kind. */
export function markSettersIn(now: StoredSnapshot, slicer: TimeSlicer): MarkSetters {
  const known = new Map<Given, ReturnType<MarkSetters>>();
  const find = async (named: Given) => {
    const ids = new Map<string, number[]>();
    await slicer.map(now.get(MANGLE) ?? [], (rule) => {
      const mark = given(named, rule);
      const others = mark === undefined ? [] : ids.get(mark);
      if (others !== undefined) others.push(rule.id);
      else if (mark !== undefined) ids.set(mark, [rule.id]);
    });
    return ids;
  };
  return (named) => {
    const found = known.get(named) ?? find(named);
    known.set(named, found);
    return found;
  };
}

/** A mark that no rule gives without a revision. */
export interface RemovedMark {
  readonly named: Given;
  readonly mark: string;
  /** The rule that gives it, as the revision left it. */
  readonly rule: StoredRow;
}

/** Marks that rules give by a revision, and that no rule would give without it. */
export async function removedMarks(past: PastRevision, markSetters: MarkSetters): Promise<readonly RemovedMark[]> {
  const rules = past.changes.filter(({ menu }) => menu === MANGLE);
  const own = new Set(rules.map(({ id }) => id));
  const going: RemovedMark[] = [];
  for (const named of MARKS) {
    const known = new Set(rules.map(({ before }) => before && given(named, before)));
    for (const { after } of rules) {
      // A rule that is switched off gives nothing that could be missed.
      const mark = after === undefined || after.disabled ? undefined : given(named, after);
      if (after === undefined || mark === undefined || known.has(mark)) continue;
      known.add(mark);
      if ((await markSetters(named)).get(mark)?.some((id) => !own.has(id))) continue;
      going.push({ named, mark, rule: after });
    }
  }
  return going;
}

const namers = new Map(MARKS.map((named) => [named, namersOf(MANGLE, named.property)]));

const namersIn = perMenu((path) =>
  MARKS.map((named): readonly [Given, readonly Namer[]] => [
    named,
    (namers.get(named) ?? []).filter(({ menu }) => storageOf(menu) === path),
  ]),
);

/** Menus whose rows may name marks: those that hold the rows. */
export const namingMenus: readonly string[] = [
  ...new Set([...namers.values()].flatMap((each) => each.map(({ menu }) => storageOf(menu)))),
];

/** Finds the rows that name going marks since a revision. */
export class UsersSince {
  /** Rows that name each of the marks now and did not before the revision. */
  readonly found = new Map<RemovedMark, Use[]>();
  readonly #going: readonly RemovedMark[];
  readonly #rowsOf: RowsOf;
  /** Rows that need no look: they have had one, or go back with the revision. */
  readonly #seen: Set<number>;

  /** @param rowsOf a menu now */
  constructor(past: PastRevision, going: readonly RemovedMark[], rowsOf: RowsOf) {
    this.#going = going;
    this.#rowsOf = rowsOf;
    this.#seen = new Set(past.changes.map(({ id }) => id));
  }

  /** Takes what a revision since then changed; the oldest one comes first. */
  see({ menu: path, id, before }: RowBefore): void {
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const row = this.#rowsOf(path).get(id);
    if (row === undefined) return;
    for (const [named, menus] of namersIn(path)) {
      for (const { menu, namedBy } of menus) {
        const then = before === undefined ? [] : namedBy(before);
        const since = new Set(namedBy(row).filter((mark) => !then.includes(mark)));
        if (since.size === 0) continue;
        for (const mark of this.#going) {
          if (mark.named === named && since.has(mark.mark)) this.#add(mark, { menu: menu.path, row });
        }
      }
    }
  }

  #add(mark: RemovedMark, use: Use): void {
    const known = this.found.get(mark);
    if (known === undefined) this.found.set(mark, [use]);
    else known.push(use);
  }
}
