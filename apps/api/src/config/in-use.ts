import { type Given, type Menu, menuByPath, type Prop } from '@tollway/schema';
import { errors } from '../errors.js';
import { withBuiltin } from '../snapshot/builtin.js';
import { holdersOf } from '../snapshot/interfaces.js';
import { type ConfigSnapshot, type Row, rowIdText, rowsOf } from '../snapshot/snapshot.js';
import type { RowChange } from './draft.js';
import { storageOf } from './items.js';
import { holdingRows } from './references.js';

/**
 * What rows refer to must not be taken from under them: a rule that names what is gone is left out, and a drop that is
 * left out opens the router. Items that are named (interface lists, queues, queue types) and marks that mangle rules
 * give stay while others use them.
 */

/** A row that names something. */
export interface Use {
  readonly menu: string;
  readonly row: Row;
}

/** Its rules give marks to packets, connections and routing decisions. */
export const MANGLE = '/ip/firewall/mangle';

/** What can be named in rows of a menu that holds rows, and must not go while it is. */
function namedIn(menu: Menu): readonly Given[] {
  if (menu.onReferencedRemove === 'keep-name') return [];
  return menu.gives ?? ('name' in menu.props ? [{ property: 'name', word: menu.singular.toLowerCase() }] : []);
}

export const MARKS: readonly Given[] = menuByPath(MANGLE)?.gives ?? [];

/** What a row gives others to name. */
export const given = ({ property, when }: Given, { values }: Row): string | undefined =>
  when === undefined || values[when.prop] === when.value ? values[property] : undefined;

/**
 * Refuses changes that take away what others still name.
 * @param snapshot the configuration as it would become.
 * @throws ApiError that names the rows in the way.
 */
export function refuseTakingFromUsers(changes: readonly RowChange[], snapshot: ConfigSnapshot): void {
  for (const path of new Set(changes.map(({ menu }) => menu))) {
    const menu = menuByPath(path);
    if (menu === undefined) continue;
    for (const named of namedIn(menu)) {
      const gone = new Set<string>();
      for (const { menu: changed, before, after } of changes) {
        if (changed !== path || before === undefined) continue;
        // A mark of a rule that is switched off is given up already; an item's name is not.
        const name = before.disabled && named.property !== 'name' ? undefined : given(named, before);
        if (name !== undefined && (after === undefined || given(named, after) !== name)) gone.add(name);
      }
      if (gone.size === 0) continue;
      for (const row of withBuiltin(menu, rowsOf(snapshot, path))) gone.delete(given(named, row) ?? '');
      refuseUsed(path, named, gone, snapshot);
    }
  }
}

function refuseUsed(path: string, named: Given, gone: ReadonlySet<string>, snapshot: ConfigSnapshot): void {
  if (gone.size === 0) return;
  const uses = usesOf(path, named, gone, snapshot);
  for (const name of gone) {
    const users = uses.get(name);
    if (users === undefined) continue;
    const change = users.length > 1 ? 'change those first' : 'change that first';
    throw errors.failure(`${named.word} ${name} is in use by ${usersText(users)}; ${change}`);
  }
}

/** Rows that an error lists at most. */
const MAX_USES = 5;

/** `/queue/simple q, /queue/tree voice and 3 more`. */
export function usersText(users: readonly Use[]): string {
  const shown = users.slice(0, MAX_USES).map(userText).join(', ');
  return users.length > MAX_USES ? `${shown} and ${users.length - MAX_USES} more` : shown;
}

/** `/queue/simple q`, or `/ip/firewall/filter *B (chain forward, comment)`. */
function userText({ menu, row }: Use): string {
  if (row.values.name !== undefined) return `${menu} ${row.values.name}`;
  const chain = row.values.chain === undefined ? [] : [`chain ${row.values.chain}`];
  const notes = [...chain, ...(row.comment === '' ? [] : [row.comment])];
  return `${menu} ${rowIdText(row.id)}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

/** Rows that name one of `names`, in one walk. */
function usesOf(
  path: string,
  { property }: Given,
  names: ReadonlySet<string>,
  snapshot: ConfigSnapshot,
): ReadonlyMap<string, readonly Use[]> {
  const uses = new Map<string, Use[]>();
  for (const { menu, namedBy } of namersOf(path, property)) {
    for (const row of rowsOf(snapshot, storageOf(menu))) {
      for (const found of namedBy(row)) {
        if (!names.has(found)) continue;
        const known = uses.get(found);
        if (known === undefined) uses.set(found, [{ menu: menu.path, row }]);
        else if (known.at(-1)?.row !== row) known.push({ menu: menu.path, row });
      }
    }
  }
  return uses;
}

/** A menu whose rows may name what rows of another give. */
export interface Namer {
  readonly menu: Menu;
  /** What a row names; more than once when several of its properties do. */
  readonly namedBy: (row: Row) => readonly string[];
}

/** Menus whose rows may name what `property` of `path` gives. */
export const namersOf = (path: string, property: string): readonly Namer[] =>
  holdingRows.flatMap((menu) => {
    const asking = Object.entries(menu.props).filter(([own, prop]) => asks(menu, own, prop, path, property));
    const namedBy = ({ values }: Row) =>
      asking.flatMap(([own, { kind }]) => {
        const value = values[own];
        return value === undefined ? [] : (kind.references?.(value) ?? []);
      });
    return asking.length === 0 ? [] : [{ menu, namedBy }];
  });

/** Whether a property names what `property` of `path` gives. */
function asks(menu: Menu, own: string, { kind }: Prop, path: string, property: string): boolean {
  if (menu.path === path && own === property) return false;
  return kind.ref?.some((ref) => holdersOf(ref.menu).includes(path) && ref.prop === property) === true;
}
