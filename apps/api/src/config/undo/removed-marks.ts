import type { ReferenceTarget } from '@tollway/schema';
import type { TimeSlicer } from '../../scheduling/time-slicer.js';
import { storagesOf } from '../../snapshot/storage.js';
import type { StoredRow, StoredSnapshot } from '../draft.js';
import { type Referrer, type ReferringMenu, referringMenus } from '../references.js';
import { MANGLE, MARK_TARGETS, targetName } from '../referential-integrity.js';
import { perMenu, type RowsOf } from './renames.js';
import type { PastRevision, RowBefore } from './revision.js';

/**
 * Marks that disappear when a revision is undone. Rows may reference a mark that no rule sets: rows that did so before the
 * revision do so again and do not prevent the undo; rows that reference the mark only since then do.
 */

/** Ids of the mangle rules that set each mark of a kind. */
export type MarkSetters = (target: ReferenceTarget) => Promise<ReadonlyMap<string, readonly number[]>>;

/** The present rules that set marks; they are searched once for each kind of mark. */
export function markSettersIn(now: StoredSnapshot, slicer: TimeSlicer): MarkSetters {
  const known = new Map<ReferenceTarget, ReturnType<MarkSetters>>();
  const find = async (target: ReferenceTarget) => {
    const ids = new Map<string, number[]>();
    await slicer.map(now.get(MANGLE) ?? [], (rule) => {
      const mark = targetName(target, rule);
      const others = mark === undefined ? [] : ids.get(mark);
      if (others !== undefined) others.push(rule.id);
      else if (mark !== undefined) ids.set(mark, [rule.id]);
    });
    return ids;
  };
  return (target) => {
    const found = known.get(target) ?? find(target);
    known.set(target, found);
    return found;
  };
}

/** A mark that no rule would set without the revision. */
interface RemovedMark {
  readonly target: ReferenceTarget;
  readonly mark: string;
  /** The rule that sets it, as the revision left it. */
  readonly rule: StoredRow;
}

/** Marks that only rules of this revision set. */
export async function removedMarks(past: PastRevision, markSetters: MarkSetters): Promise<readonly RemovedMark[]> {
  const rules = past.changes.filter(({ menu }) => menu === MANGLE);
  const own = new Set(rules.map(({ id }) => id));
  const removed: RemovedMark[] = [];
  for (const target of MARK_TARGETS) {
    const known = new Set(rules.map(({ before }) => before && targetName(target, before)));
    for (const { after } of rules) {
      // A disabled rule sets no mark.
      const mark = after === undefined || after.disabled ? undefined : targetName(target, after);
      if (after === undefined || mark === undefined || known.has(mark)) continue;
      known.add(mark);
      if ((await markSetters(target)).get(mark)?.some((id) => !own.has(id))) continue;
      removed.push({ target, mark, rule: after });
    }
  }
  return removed;
}

const menusByTarget = new Map(MARK_TARGETS.map((target) => [target, referringMenus(MANGLE, target.property)]));

/** Menus that reference marks in the rows which the menu `path` stores, by kind of mark. */
const menusReferencing = perMenu((path) =>
  MARK_TARGETS.map((target): readonly [ReferenceTarget, readonly ReferringMenu[]] => [
    target,
    (menusByTarget.get(target) ?? []).filter(({ menu }) => storagesOf(menu.path).includes(path)),
  ]),
);

/** Menus whose stored rows may reference marks. */
export const markReferringMenus: readonly string[] = [
  ...new Set([...menusByTarget.values()].flatMap((each) => each.flatMap(({ menu }) => storagesOf(menu.path)))),
];

/** Collects the rows that reference removed marks now and did not before a revision. */
export class ReferrersSince {
  readonly found = new Map<RemovedMark, Referrer[]>();
  readonly #removed: readonly RemovedMark[];
  readonly #rowsOf: RowsOf;
  /** Rows that are done: they were looked at before, or the undo changes them itself. */
  readonly #seen: Set<number>;

  /** @param rowsOf the present rows of a menu */
  constructor(past: PastRevision, removed: readonly RemovedMark[], rowsOf: RowsOf) {
    this.#removed = removed;
    this.#rowsOf = rowsOf;
    this.#seen = new Set(past.changes.map(({ id }) => id));
  }

  /** Looks at a row that a later revision changed. Revisions are to be given from the oldest on. */
  add({ menu: path, id, before }: RowBefore): void {
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const row = this.#rowsOf(path).get(id);
    if (row === undefined) return;
    for (const [target, menus] of menusReferencing(path)) {
      for (const { menu, namesOf } of menus) {
        const then = before === undefined ? [] : namesOf(before.values);
        const since = new Set(namesOf(row.values).filter((mark) => !then.includes(mark)));
        if (since.size === 0) continue;
        for (const mark of this.#removed) {
          if (mark.target === target && since.has(mark.mark)) this.#addReferrer(mark, { menu: menu.path, row });
        }
      }
    }
  }

  #addReferrer(mark: RemovedMark, referrer: Referrer): void {
    const known = this.found.get(mark);
    if (known === undefined) this.found.set(mark, [referrer]);
    else known.push(referrer);
  }
}
