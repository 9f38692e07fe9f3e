import type { Draft, StoredRow, StoredSnapshot } from './draft.js';
import { type PastPlaces, type PastRevision, placesOf } from './past.js';
import { referencesOf } from './references.js';
import { nameOf } from './rows-by-key.js';

/** Rows name others, and names change hands: what comes back must not name something else than it did. */

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
 * Rows that would come back naming something else than they did: that has been renamed since, or removed, and something else
 * is called so now.
 * @param draft with the rows as they would be
 * @param later revisions since, newest first
 */
export function namedOtherwise(
  draft: Draft,
  now: StoredSnapshot,
  past: PastRevision,
  later: readonly PastPlaces[],
): readonly NamedOtherwise[] {
  const revisions = [...later, placesOf(past)];
  const namedThen = perMenu((menu) => holdersBefore(now.get(menu) ?? [], menu, revisions));
  return past.changes.flatMap(({ menu, before: row }): NamedOtherwise[] => {
    if (row === undefined) return [];
    for (const { property, to, names } of referencesOf(menu)) {
      for (const name of names(row.values)) {
        // A parent may be a queue or an interface.
        const then = to.flatMap((named) => namedThen(named).get(name) ?? []);
        const will = to.flatMap((named) => [...draft.byKey(named).having(nameOf, name)].map(({ id }) => id));
        const other = then.length > 0 && will.length > 0 && !will.some((id) => then.includes(id));
        if (other) return [{ menu, row, property, name }];
      }
    }
    return [];
  });
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
