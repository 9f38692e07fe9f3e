import { type Menu, type Prop, registry } from '@tollway/schema';
import type { TimeSlicer } from '../scheduling/time-slicer.js';
import { holdersOf } from '../snapshot/interfaces.js';
import type { KeyOf } from '../snapshot/rows-by-key.js';
import { type ConfigSnapshot, type Row, rowsOf } from '../snapshot/snapshot.js';
import type { Draft } from './draft.js';
import { storageOf } from './items.js';

/** A row that names an item of another menu. */
export interface Referrer {
  readonly menu: string;
  readonly row: Row;
}

/** Menus that have properties of stored rows. */
export const holdingRows = registry.filter(({ source, rowsOf: other }) => source !== 'live' || other !== undefined);

/** Properties of a menu that name items of `menu`, the menu that holds the rows. */
function referringProps(candidate: Menu, menu: string): [string, Prop][] {
  return Object.entries(candidate.props).filter(([, { kind }]) =>
    kind.ref?.some((ref) => holdersOf(ref.menu).includes(menu) && ref.prop === 'name'),
  );
}

/** A property of rows that names items of other menus, or of its own. */
export interface Reference {
  readonly property: string;
  /** The menus that hold the rows of those items. */
  readonly to: readonly string[];
  /** The names in the values of a row. */
  readonly names: (values: Row['values']) => readonly string[];
  /** A value with another name in the place of one. */
  readonly renamed: (value: string, from: string, to: string) => string;
}

const referencesOfMenus = new Map<string, readonly Reference[]>();

/** Properties of the rows of `menu`, the menu that holds them, that name items. */
export function referencesOf(menu: string): readonly Reference[] {
  let found = referencesOfMenus.get(menu);
  if (found === undefined) {
    found = holdingRows
      .filter((candidate) => storageOf(candidate) === menu)
      .flatMap(({ props }) => Object.entries(props))
      .flatMap(([property, prop]): Reference[] => {
        const to = (prop.kind.ref ?? []).flatMap((ref) => (ref.prop === 'name' ? holdersOf(ref.menu) : []));
        const names = (values: Row['values']) => {
          const value = values[property];
          return value === undefined ? [] : (prop.kind.references?.(value) ?? []);
        };
        const renamed = (value: string, old: string, name: string) => prop.kind.rename?.(value, old, name) ?? value;
        return to.length === 0 ? [] : [{ property, to, names, renamed }];
      });
    referencesOfMenus.set(menu, found);
  }
  return found;
}

/** Finds the rows that name an item: one index for each menu that names items of another. */
interface Referring {
  readonly menu: Menu;
  readonly properties: readonly [string, Prop][];
  readonly namesOf: KeyOf;
}

const referringMenus = new Map<string, readonly Referring[]>();

/** Menus whose rows name items of `menu`, the menu that holds the rows. */
function referringTo(menu: string): readonly Referring[] {
  let found = referringMenus.get(menu);
  if (found === undefined) {
    found = holdingRows.flatMap((candidate) => {
      const properties = referringProps(candidate, menu);
      const namesOf: KeyOf = (values) =>
        properties.flatMap(([property, prop]) => {
          const value = values[property];
          return value === undefined ? [] : (prop.kind.references?.(value) ?? []);
        });
      return properties.length === 0 ? [] : [{ menu: candidate, properties, namesOf }];
    });
    referringMenus.set(menu, found);
  }
  return found;
}

/** Names of items of `menu` that other rows name, each with all of these rows; others get their turn in between. */
export async function usersOfNames(
  snapshot: ConfigSnapshot,
  menu: string,
  slicer: TimeSlicer,
): Promise<ReadonlyMap<string, readonly Referrer[]>> {
  const users = new Map<string, Referrer[]>();
  for (const { menu: candidate, namesOf } of referringTo(menu)) {
    await slicer.map(rowsOf(snapshot, storageOf(candidate)), (row) => {
      for (const name of [namesOf(row.values) ?? []].flat()) {
        const known = users.get(name);
        if (known === undefined) users.set(name, [{ menu: candidate.path, row }]);
        else known.push({ menu: candidate.path, row });
      }
    });
  }
  return users;
}

/**
 * Has the rows of a draft that refer to an item of `menu` by its old name do so by the new one. A thousand renames
 * look through the rows once.
 * @param menu the menu that holds the row (`/interface/ethernet` for interfaces).
 */
export function followRename(draft: Draft, menu: string, from: string, to: string): void {
  for (const { menu: candidate, properties, namesOf } of referringTo(menu)) {
    const path = storageOf(candidate);
    for (const row of [...draft.byKey(path).having(namesOf, from)]) {
      const changed = properties.flatMap(([property, prop]) => {
        const value = row.values[property];
        if (value === undefined || !prop.kind.references?.(value).includes(from)) return [];
        return [[property, prop.kind.rename?.(value, from, to) ?? value] as const];
      });
      draft.set(path, row.id, { ...row, values: { ...row.values, ...Object.fromEntries(changed) } });
    }
  }
}
