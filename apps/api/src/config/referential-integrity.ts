import { type Menu, menuByPath, type ReferenceTarget, registry } from '@tollway/schema';
import { errors } from '../errors.js';
import { runToEnd } from '../scheduling/time-slicer.js';
import { withBuiltin } from '../snapshot/builtin.js';
import { type ConfigSnapshot, type Row, rowIdText, rowsOf } from '../snapshot/snapshot.js';
import type { RowChange } from './draft.js';
import { type Referrer, referrersByName } from './references.js';

/**
 * Referential integrity: what rows reference must stay. A rule with a dangling reference is left out of the data plane, and a
 * missing drop rule opens the router. Named items (interfaces, interface lists, queues, queue types, log
 * actions) and marks of mangle rules cannot be removed or renamed away while other rows reference them. Not protected: address lists, whose menu says
 * `keep-name`, and chains, which exist by the rules in them.
 */

/** Names of the rows of a menu that cannot be removed while they are referenced. */
function protectedTargets(menu: Menu): readonly ReferenceTarget[] {
  if (menu.onReferencedRemove === 'keep-name') return [];
  return (
    menu.referenceTargets ?? ('name' in menu.props ? [{ property: 'name', word: menu.singular.toLowerCase() }] : [])
  );
}

/** Names of one kind that rows of a menu define besides their own name, such as the packet marks that rules set. */
export interface DefinedNames {
  readonly menu: string;
  readonly target: ReferenceTarget;
}

/** The defined names of all menus that must not disappear while rows reference them. */
export const definedNames: readonly DefinedNames[] = registry.flatMap((menu) =>
  protectedTargets(menu).flatMap((target) => (target.property === 'name' ? [] : [{ menu: menu.path, target }])),
);

/** The name by which other rows can reference a row; undefined for a row that has none. */
export const targetName = ({ property, when }: ReferenceTarget, { values }: Row): string | undefined =>
  when === undefined || values[when.prop] === when.value ? values[property] : undefined;

/**
 * Refuses changes that would leave dangling references.
 * @param snapshot the configuration after the changes.
 * @throws ApiError that names the rows with the references.
 */
export function refuseDanglingReferences(changes: readonly RowChange[], snapshot: ConfigSnapshot): void {
  for (const path of new Set(changes.map(({ menu }) => menu))) {
    const menu = menuByPath(path);
    if (menu === undefined) continue;
    for (const target of protectedTargets(menu)) {
      const removed = new Set<string>();
      for (const { menu: changed, before, after } of changes) {
        if (changed !== path || before === undefined) continue;
        // A disabled rule did not set its mark before either; a disabled item keeps its name.
        const name = before.disabled && target.property !== 'name' ? undefined : targetName(target, before);
        if (name !== undefined && (after === undefined || targetName(target, after) !== name)) removed.add(name);
      }
      if (removed.size === 0) continue;
      for (const row of withBuiltin(menu, rowsOf(snapshot, path))) removed.delete(targetName(target, row) ?? '');
      refuseReferenced(path, target, removed, snapshot);
    }
  }
}

function refuseReferenced(
  path: string,
  target: ReferenceTarget,
  removed: ReadonlySet<string>,
  snapshot: ConfigSnapshot,
): void {
  if (removed.size === 0) return;
  const referrers = runToEnd(referrersByName(snapshot, path, target.property, removed));
  for (const name of removed) {
    const rows = referrers.get(name);
    if (rows === undefined) continue;
    const change = rows.length > 1 ? 'change those first' : 'change that first';
    throw errors.failure(`${target.word} ${name} is in use by ${referrersText(rows)}; ${change}`);
  }
}

/** Maximum number of rows that an error lists. */
const MAX_REFERRERS = 5;

/** `/queue/simple q, /queue/tree voice and 3 more`. */
export function referrersText(referrers: readonly Referrer[]): string {
  const listed = referrers.slice(0, MAX_REFERRERS).map(referrerText).join(', ');
  return referrers.length > MAX_REFERRERS ? `${listed} and ${referrers.length - MAX_REFERRERS} more` : listed;
}

/** `/queue/simple q`, or `/ip/firewall/filter *B (chain forward, comment)`. */
function referrerText({ menu, row }: Referrer): string {
  if (row.values.name !== undefined) return `${menu} ${row.values.name}`;
  const chain = row.values.chain === undefined ? [] : [`chain ${row.values.chain}`];
  const notes = [...chain, ...(row.comment === '' ? [] : [row.comment])];
  return `${menu} ${rowIdText(row.id)}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}
