import { type Draft, equal, type StoredRow, type StoredSnapshot } from './draft.js';
import { type PastPlaces, type PastRevision, placesOf } from './past.js';
import { referencesOf } from './references.js';
import { nameOf } from './rows-by-key.js';

/** Rows name others, and names change hands: what comes back names what it did, by the name that it has now. */

/** Menus, those that hold the rows, of which rows that come back with a revision may name items. */
export function namedMenus({ changes }: PastRevision): readonly string[] {
  const menus = new Set(changes.flatMap(({ menu, before }) => (before === undefined ? [] : [menu])));
  return [...new Set([...menus].flatMap((menu) => referencesOf(menu).flatMap(({ to }) => to)))];
}

/** A row that would come back naming something else than it did. */
export interface NamedOtherwise {
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
export function followRenames(
  draft: Draft,
  now: StoredSnapshot,
  past: PastRevision,
  later: readonly PastPlaces[],
): readonly NamedOtherwise[] {
  const revisions = [...later, placesOf(past)];
  const namedThen = perMenu((menu) => holdersBefore(now.get(menu) ?? [], menu, revisions));
  const otherwise: NamedOtherwise[] = [];
  for (const { menu, before: row } of past.changes) {
    if (row === undefined) continue;
    const values = { ...row.values };
    for (const { property, to, names, renamed } of referencesOf(menu)) {
      const marks: string[] = [];
      for (const name of names(row.values)) {
        // A parent may be a queue or an interface.
        const then = to.flatMap((named) => {
          const holder = namedThen(named).get(name);
          return holder === undefined ? [] : [draft.find(named, holder)?.values.name];
        });
        const [called] = then.filter((each) => each !== undefined);
        // Names may have been changed among each other: each has a mark in its place until all are found.
        if (called !== undefined) values[property] = renamed(values[property] ?? '', name, `\0${marks.push(called)}`);
        else if (then.length > 0 && to.some((named) => draft.byKey(named).having(nameOf, name).size > 0)) {
          otherwise.push({ menu, row, property, name });
        }
      }
      for (const [index, called] of marks.entries()) {
        values[property] = renamed(values[property] ?? '', `\0${index + 1}`, called);
      }
    }
    if (!equal(row, { ...row, values })) draft.set(menu, row.id, { ...row, values });
  }
  return otherwise;
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
function perMenu<Found>(find: (menu: string) => Found): (menu: string) => Found {
  const known = new Map<string, Found>();
  return (menu) => {
    const found = known.get(menu) ?? find(menu);
    known.set(menu, found);
    return found;
  };
}
