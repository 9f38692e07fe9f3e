import { type Menu, type Prop, registry } from '@tollway/schema';
import type { ConfigSnapshot, Row } from '../snapshot/snapshot.js';
import { showsStoredRows, storagesOf, storedRowsOf } from '../snapshot/storage.js';
import type { Draft } from './draft.js';

/** A row that references a row of the same or another menu. */
export interface Referrer {
  readonly menu: string;
  readonly row: Row;
}

/** Menus that store rows, or declare properties of rows that another menu stores. */
const storedMenus = registry.filter(showsStoredRows);

/** A property of rows, or a part of its values, that references items by name, of other menus or of the same one. */
export interface Reference {
  readonly property: string;
  /** The menus that store the rows of those items. */
  readonly to: readonly string[];
  /** The names that the values of a row contain. */
  readonly names: (values: Row['values']) => readonly string[];
  /** The value with one name replaced by another. */
  readonly renamed: (value: string, from: string, to: string) => string;
}

const referencesOfMenus = new Map<string, readonly Reference[]>();

/** The properties with references of the rows that `menu` stores. */
export function referencesOf(menu: string): readonly Reference[] {
  let found = referencesOfMenus.get(menu);
  if (found === undefined) {
    found = storedMenus
      .filter(({ path }) => storagesOf(path).includes(menu))
      .flatMap(({ props }) => Object.entries(props))
      .flatMap(([property, prop]): Reference[] => {
        const named = (prop.kind.ref ?? []).filter((ref) => ref.prop === 'name');
        return [...new Set(named.map(({ part }) => part))].map((part) => ({
          property,
          to: named.flatMap((ref) => (ref.part === part ? storagesOf(ref.menu) : [])),
          names: (values) => namesIn(prop, values[property], part),
          renamed: (value, old, name) => prop.kind.rename?.(value, old, name, part) ?? value,
        }));
      });
    referencesOfMenus.set(menu, found);
  }
  return found;
}

const namesIn = ({ kind }: Prop, value: string | undefined, part: string | undefined): readonly string[] =>
  value === undefined ? [] : (kind.references?.(value, part) ?? []);

/** A property that references rows of a menu, and the part of its values that does so; undefined for all of it. */
type ReferringProperty = readonly [property: string, prop: Prop, part: string | undefined];

/** A menu with properties that reference rows of another menu, or of the same one. */
export interface ReferringMenu {
  readonly menu: Menu;
  readonly properties: readonly ReferringProperty[];
  /** The names that a row references; a name is repeated when several properties reference it. */
  readonly namesOf: (values: Row['values']) => readonly string[];
}

const knownReferringMenus = new Map<string, readonly ReferringMenu[]>();

/**
 * Menus whose rows may reference rows of `menu` by the value of `property`.
 * @param menu the menu that stores the referenced rows.
 */
export function referringMenus(menu: string, property = 'name'): readonly ReferringMenu[] {
  const key = `${menu} ${property}`;
  let found = knownReferringMenus.get(key);
  if (found === undefined) {
    found = storedMenus.flatMap((candidate) => {
      const properties = Object.entries(candidate.props).flatMap(([own, prop]): ReferringProperty[] => {
        if (candidate.path === menu && own === property) return [];
        const ref = prop.kind.ref?.find((each) => storagesOf(each.menu).includes(menu) && each.prop === property);
        return ref === undefined ? [] : [[own, prop, ref.part]];
      });
      const namesOf = (values: Row['values']) =>
        properties.flatMap(([own, prop, part]) => namesIn(prop, values[own], part));
      return properties.length === 0 ? [] : [{ menu: candidate, properties, namesOf }];
    });
    knownReferringMenus.set(key, found);
  }
  return found;
}

/**
 * Rows that reference rows of `menu` by the value of `property`, grouped by that value. All are found in one pass,
 * which yields after each row.
 * @param wanted the values that are looked for; all without it
 */
export function* referrersByName(
  snapshot: ConfigSnapshot,
  menu: string,
  property = 'name',
  wanted?: ReadonlySet<string>,
): Generator<undefined, ReadonlyMap<string, readonly Referrer[]>> {
  const referrers = new Map<string, Referrer[]>();
  for (const { menu: candidate, namesOf } of referringMenus(menu, property)) {
    for (const row of storedRowsOf(snapshot, candidate.path)) {
      yield;
      for (const name of namesOf(row.values)) {
        if (wanted?.has(name) === false) continue;
        const known = referrers.get(name);
        if (known === undefined) referrers.set(name, [{ menu: candidate.path, row }]);
        else if (known.at(-1)?.row !== row) known.push({ menu: candidate.path, row });
      }
    }
  }
  return referrers;
}

/**
 * Updates the references to a renamed item in the rows of a draft. An index is built at the first rename, so that a
 * thousand renames read the rows once.
 * @param menu the menu that stores the item; for an interface, the menu of its type.
 */
export function followRename(draft: Draft, menu: string, from: string, to: string): void {
  for (const { menu: candidate, properties, namesOf } of referringMenus(menu)) {
    for (const path of storagesOf(candidate.path)) {
      for (const row of [...draft.byKey(path).having(namesOf, from)]) {
        const changed = properties.flatMap(([property, prop, part]) => {
          const value = row.values[property];
          if (value === undefined || !namesIn(prop, value, part).includes(from)) return [];
          return [[property, prop.kind.rename?.(value, from, to, part) ?? value] as const];
        });
        draft.set(path, row.id, { ...row, values: { ...row.values, ...Object.fromEntries(changed) } });
      }
    }
  }
}
