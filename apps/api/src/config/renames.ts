import type { TimeSlicer } from '../scheduling/time-slicer.js';
import { nameOf } from '../snapshot/rows-by-key.js';
import { type Draft, equal, isMove, type StoredRow, type StoredSnapshot } from './draft.js';
import { type PastPlaces, type PastRevision, placesOf } from './past.js';
import { type Reference, referencesOf } from './references.js';

/** Rows name others, and names change hands: what comes back names what it did, by the name that it has now. */

/** Menus, those that hold the rows, of which rows of a revision may name items. */
export function namedMenus({ changes }: PastRevision): readonly string[] {
  const menus = new Set(changes.map(({ menu }) => menu));
  return [...new Set([...menus].flatMap((menu) => referencesOf(menu).flatMap(({ to }) => to)))];
}

/** A row that would come back naming something else than it did. */
interface NamedOtherwise {
  readonly menu: string;
  readonly row: StoredRow;
  readonly property: string;
  /** What both are called. */
  readonly name: string;
}

/**
 * Has rows that come back name what they did by the name that it has been given since, as rows that were there did.
 * @param draft with the rows as they were
 * @param later revisions since, newest first
 * @returns rows that would name something else than they did: that has been removed since, and something else is called so now.
 */
export async function followRenames(
  draft: Draft,
  now: StoredSnapshot,
  past: PastRevision,
  later: readonly PastPlaces[],
  slicer: TimeSlicer,
): Promise<readonly NamedOtherwise[]> {
  const revisions = [...later, placesOf(past)];
  const namedThen = perMenu((menu) => holdersBefore(now.get(menu) ?? [], menu, revisions));
  const otherwise: NamedOtherwise[] = [];
  await slicer.map(past.changes, (change) => {
    const { menu, before: row } = change;
    if (row === undefined || isMove(change)) return;
    const called = (named: string, id: number) => draft.find(named, id)?.values.name;
    const values = valuesNow(menu, row, namedThen, called, ({ property, to }, name) => {
      if (to.some((named) => draft.byKey(named).having(nameOf, name).size > 0)) {
        otherwise.push({ menu, row, property, name });
      }
    });
    if (!equal(row, { ...row, values })) draft.set(menu, row.id, { ...row, values });
  });
  return otherwise;
}

/** Whether a row of a menu is what it was after a revision, but for names that others have been given since. */
export type IsAsLeft = (menu: string, row: StoredRow, after: StoredRow) => boolean;

/** Rows of a menu as they are now, by their ids. */
export type RowsOf = (menu: string) => ReadonlyMap<number, StoredRow>;

/** @param later revisions since, newest first; asked for only where names may tell rows apart */
export function asLeftBefore(rowsOf: RowsOf, later: () => readonly PastPlaces[]): IsAsLeft {
  const namedThen = perMenu((menu) => holdersBefore([...rowsOf(menu).values()], menu, later()));
  const nameNow = (menu: string, id: number) => rowsOf(menu).get(id)?.values.name;
  /** Names that items have had since, which are called otherwise now. */
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
    // A name that was given to something else is another one, although it reads the same.
    if (equal(row, after) && !namesRenamed(menu, after)) return true;
    const named = referencesOf(menu).flatMap(({ property }) => {
      const value = row.values[property];
      return value === undefined || after.values[property] === undefined ? [] : [[property, value] as const];
    });
    if (!equal(row, { ...after, values: { ...after.values, ...Object.fromEntries(named) } })) return false;
    const values = valuesNow(menu, after, namedThen, nameNow);
    return equal(row, { ...after, values });
  };
}

/**
 * The values of a row with the names that what it named has now.
 * @param lost what to do about a name whose item is gone
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
      // A parent may be a queue or an interface.
      const then = to.flatMap((named) => {
        const holder = namedThen(named).get(name);
        return holder === undefined ? [] : [called(named, holder)];
      });
      const [now] = then.filter((each) => each !== undefined);
      // Names may have been changed among each other: each has a mark in its place until all are found.
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
  revisions: readonly PastPlaces[],
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

/** What is found of a menu, once. */
export function perMenu<Found>(find: (menu: string) => Found): (menu: string) => Found {
  const known = new Map<string, Found>();
  return (menu) => {
    const found = known.get(menu) ?? find(menu);
    known.set(menu, found);
    return found;
  };
}
