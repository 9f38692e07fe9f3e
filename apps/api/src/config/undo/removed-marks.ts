import type { TimeSlicer } from '../../scheduling/time-slicer.js';
import { storagesOf } from '../../snapshot/storage.js';
import type { StoredRow, StoredSnapshot } from '../draft.js';
import { type Referrer, type ReferringMenu, referringMenus } from '../references.js';
import { type DefinedNames, definedNames, targetName } from '../referential-integrity.js';
import { perMenu, type RowsOf } from './renames.js';
import type { PastRevision, RowBefore } from './revision.js';

/**
 * Marks that disappear when a revision is undone. Rows may reference a mark that no rule sets: rows that did so before the
 * revision do so again and do not prevent the undo; rows that reference the mark only since then do.
 */

/** Ids of the rules that set each mark of a kind. */
export type MarkSetters = (kind: DefinedNames) => Promise<ReadonlyMap<string, readonly number[]>>;

/** The present rules that set marks. Each kind of mark is searched once. */
export function markSettersIn(now: StoredSnapshot, slicer: TimeSlicer): MarkSetters {
  const known = new Map<DefinedNames, ReturnType<MarkSetters>>();
  const find = async ({ menu, target }: DefinedNames) => {
    const ids = new Map<string, number[]>();
    await slicer.map(now.get(menu) ?? [], (rule) => {
      const mark = targetName(target, rule);
      const others = mark === undefined ? [] : ids.get(mark);
      if (others !== undefined) others.push(rule.id);
      else if (mark !== undefined) ids.set(mark, [rule.id]);
    });
    return ids;
  };
  return (kind) => {
    const found = known.get(kind) ?? find(kind);
    known.set(kind, found);
    return found;
  };
}

/** A mark that no rule would set after the undo. */
interface RemovedMark {
  readonly kind: DefinedNames;
  readonly mark: string;
  /** The rule that sets it, as the revision left it. */
  readonly rule: StoredRow;
}

/** Marks that only rules of this revision set. */
export async function removedMarks(past: PastRevision, markSetters: MarkSetters): Promise<readonly RemovedMark[]> {
  const own = new Set(past.changes.map(({ id }) => id));
  const removed: RemovedMark[] = [];
  for (const kind of definedNames) {
    const { target } = kind;
    const rules = past.changes.filter(({ menu }) => menu === kind.menu);
    const known = new Set(rules.map(({ before }) => before && targetName(target, before)));
    for (const { after } of rules) {
      // A disabled rule sets no mark.
      const mark = after === undefined || after.disabled ? undefined : targetName(target, after);
      if (after === undefined || mark === undefined || known.has(mark)) continue;
      known.add(mark);
      if ((await markSetters(kind)).get(mark)?.some((id) => !own.has(id))) continue;
      removed.push({ kind, mark, rule: after });
    }
  }
  return removed;
}

const menusByKind = new Map(definedNames.map((kind) => [kind, referringMenus(kind.menu, kind.target.property)]));

/** Menus that reference marks in the rows which the menu `path` stores, by kind of mark. */
const menusReferencing = perMenu((path) =>
  definedNames.map((kind): readonly [DefinedNames, readonly ReferringMenu[]] => [
    kind,
    (menusByKind.get(kind) ?? []).filter(({ menu }) => storagesOf(menu.path).includes(path)),
  ]),
);

/** Menus whose stored rows may reference marks. */
export const markReferringMenus: readonly string[] = [
  ...new Set([...menusByKind.values()].flatMap((each) => each.flatMap(({ menu }) => storagesOf(menu.path)))),
];

/** Collects the rows that reference removed marks now and did not before a revision. */
export class ReferrersSince {
  readonly found = new Map<RemovedMark, Referrer[]>();
  readonly #removed: readonly RemovedMark[];
  readonly #rowsOf: RowsOf;
  /** Rows that need no check: they were checked before, or the undo changes them itself. */
  readonly #seen: Set<number>;

  /** @param rowsOf the present rows of a menu */
  constructor(past: PastRevision, removed: readonly RemovedMark[], rowsOf: RowsOf) {
    this.#removed = removed;
    this.#rowsOf = rowsOf;
    this.#seen = new Set(past.changes.map(({ id }) => id));
  }

  /** Checks a row that a later revision changed. Must be called for the oldest revision first. */
  add({ menu: path, id, before }: RowBefore): void {
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const row = this.#rowsOf(path).get(id);
    if (row === undefined) return;
    for (const [kind, menus] of menusReferencing(path)) {
      for (const { menu, namesOf } of menus) {
        const then = before === undefined ? [] : namesOf(before.values);
        const since = new Set(namesOf(row.values).filter((mark) => !then.includes(mark)));
        if (since.size === 0) continue;
        for (const mark of this.#removed) {
          if (mark.kind === kind && since.has(mark.mark)) this.#addReferrer(mark, { menu: menu.path, row });
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
