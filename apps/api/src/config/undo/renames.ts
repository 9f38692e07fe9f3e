import type { TimeSlicer } from '../../scheduling/time-slicer.js';
import { nameOf } from '../../snapshot/rows-by-key.js';
import { type Draft, isMove, type StoredRow, type StoredSnapshot, sameContent } from '../draft.js';
import { type Reference, referencesOf } from '../references.js';
import { type PastRevision, type RevisionRanks, ranksOf } from './revision.js';

/** References of restored rows: they follow the renames since, so that a restored row references the same items as before. */

/** The menus whose items rows of a revision may reference; menus that store rows only. */
export function namedMenus({ changes }: PastRevision): readonly string[] {
  const menus = new Set(changes.map(({ menu }) => menu));
  return [...new Set([...menus].flatMap((menu) => referencesOf(menu).flatMap(({ to }) => to)))];
}

/** A restored row with a reference that would now resolve to a different item, which has taken over the name. */
interface ReusedName {
  readonly menu: string;
  readonly row: StoredRow;
  readonly property: string;
  /** The name that both items have had at different times. */
  readonly name: string;
}

/**
 * Replaces names in the restored rows by those that the referenced items have now.
 * @param draft with the rows already restored
 * @param later revisions since, newest first
 * @returns rows with a reference that would resolve to another item: the original one was removed, and its name is in use
 * again.
 */
export async function followRenames(
  draft: Draft,
  now: StoredSnapshot,
  past: PastRevision,
  later: readonly RevisionRanks[],
  slicer: TimeSlicer,
): Promise<readonly ReusedName[]> {
  const revisions = [...later, ranksOf(past)];
  const namedThen = perMenu((menu) => holdersBefore(now.get(menu) ?? [], menu, revisions));
  const reused: ReusedName[] = [];
  await slicer.map(past.changes, (change) => {
    const { menu, before: row } = change;
    if (row === undefined || isMove(change)) return;
    const called = (named: string, id: number) => draft.find(named, id)?.values.name;
    const values = valuesNow(menu, row, namedThen, called, ({ property, to }, name) => {
      if (to.some((named) => draft.byKey(named).having(nameOf, name).size > 0)) {
        reused.push({ menu, row, property, name });
      }
    });
    if (!sameContent(row, { ...row, values })) draft.set(menu, row.id, { ...row, values });
  });
  return reused;
}

/** Whether a row is unchanged since a revision, apart from renames of the items that it references. */
export type IsUnchangedSince = (menu: string, row: StoredRow, after: StoredRow) => boolean;

/** The present rows of a menu by id. */
export type RowsOf = (menu: string) => ReadonlyMap<number, StoredRow>;

/** @param later revisions since, newest first; called only if names differ */
export function unchangedSince(rowsOf: RowsOf, later: () => readonly RevisionRanks[]): IsUnchangedSince {
  const namedThen = perMenu((menu) => holdersBefore([...rowsOf(menu).values()], menu, later()));
  const nameNow = (menu: string, id: number) => rowsOf(menu).get(id)?.values.name;
  /** Items renamed since the revision: their names at that time. */
  const renamed = perMenu((menu) => {
    const names = new Set<string>();
    for (const { changes } of later()) {
      for (const { menu: of, id, before } of changes) {
        if (of !== menu || before?.name === undefined) continue;
        const now = nameNow(menu, id);
        if (now !== undefined && now !== before.name) names.add(before.name);
      }
    }
    return names;
  });
  const namesRenamed = (menu: string, { values }: StoredRow) =>
    referencesOf(menu).some(({ names, to }) =>
      names(values).some((name) => to.some((named) => renamed(named).has(name))),
    );
  return (menu, row, after) => {
    // The same name may belong to another item by now.
    if (sameContent(row, after) && !namesRenamed(menu, after)) return true;
    const named = referencesOf(menu).flatMap(({ property }) => {
      const value = row.values[property];
      return value === undefined || after.values[property] === undefined ? [] : [[property, value] as const];
    });
    if (!sameContent(row, { ...after, values: { ...after.values, ...Object.fromEntries(named) } })) return false;
    const values = valuesNow(menu, after, namedThen, nameNow);
    return sameContent(row, { ...after, values });
  };
}

/**
 * The values of a row with the present names of the items that it references.
 * @param lost called for a name whose item no longer exists
 */
function valuesNow(
  menu: string,
  row: StoredRow,
  namedThen: (menu: string) => ReadonlyMap<string | undefined, number>,
  called: (menu: string, id: number) => string | undefined,
  lost: (reference: Reference, name: string) => void = () => undefined,
): StoredRow['values'] {
  const values = { ...row.values };
  for (const reference of referencesOf(menu)) {
    const { property, to, names, renamed } = reference;
    const marks: string[] = [];
    for (const name of names(row.values)) {
      // A reference may have several target menus: a parent is a queue or an interface.
      const then = to.flatMap((named) => {
        const holder = namedThen(named).get(name);
        return holder === undefined ? [] : [called(named, holder)];
      });
      const [now] = then.filter((each) => each !== undefined);
      // Two items may have swapped names: placeholders keep the replacements apart.
      if (now !== undefined) values[property] = renamed(values[property] ?? '', name, `\0${marks.push(now)}`);
      else if (then.length > 0) lost(reference, name);
    }
    for (const [index, now] of marks.entries()) {
      values[property] = renamed(values[property] ?? '', `\0${index + 1}`, now);
    }
  }
  return values;
}

/** Ids of the rows of a menu by the names that they had before the oldest of some revisions. @param revisions newest first */
function holdersBefore(
  rows: readonly StoredRow[],
  menu: string,
  revisions: readonly RevisionRanks[],
): ReadonlyMap<string | undefined, number> {
  const names = new Map(rows.map(({ id, values }) => [id, values.name]));
  for (const { changes } of revisions) {
    for (const change of changes) {
      if (change.menu !== menu) continue;
      if (change.before === undefined) names.delete(change.id);
      else names.set(change.id, change.before.name);
    }
  }
  return new Map([...names].map(([id, name]) => [name, id]));
}

/** Memoises a function of a menu. */
export function perMenu<Found>(find: (menu: string) => Found): (menu: string) => Found {
  const known = new Map<string, Found>();
  return (menu) => {
    const found = known.get(menu) ?? find(menu);
    known.set(menu, found);
    return found;
  };
}
