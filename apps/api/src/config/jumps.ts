import { isDeepStrictEqual } from 'node:util';
import { errors } from '../errors.js';
import { type ConfigSnapshot, type Row, rowIdText, rowsOf } from '../snapshot/snapshot.js';
import type { RowChange } from './draft.js';
import type { ChecksByMenu } from './menu-checks.js';

/**
 * Effects of a changed jump on the rules of other chains. A jump that closes a circle or nests too deep cannot be followed, nor
 * can the others of the circle; one from `dstnat` to a chain puts the rules there out of force that work in `srcnat` alone.
 * Drops and translations would end unnoticed: a change is refused that puts rules out of force which it does not itself change.
 */

/** Rows that cannot work, with the reasons. */
type Invalid = ReadonlyMap<number, string>;

/**
 * Refuses changes of firewall rules by which others, that stay as they are, stop working.
 * @param snapshot the configuration as it would become
 * @throws ApiError that names such a rule, and why it would not work
 */
export function refuseBreakingOtherRules(
  checks: ChecksByMenu,
  changes: readonly RowChange[],
  { before, after }: { readonly before: Invalid; readonly after: Invalid },
  snapshot: ConfigSnapshot,
): void {
  for (const [menu, { jumps }] of checks) {
    if (jumps !== true) continue;
    const own = changes.filter((change) => change.menu === menu);
    if (own.length === 0) continue;
    const changed = new Set(own.flatMap((change) => (isUnchanged(change) ? [] : [change.id])));
    const rows = rowsOf(snapshot, menu);
    const broken = rows.find(
      (row) => after.has(row.id) && !before.has(row.id) && !changed.has(row.id) && hasTarget(row, rows),
    );
    if (broken === undefined) continue;
    const why = after.get(broken.id) ?? '';
    throw errors.failure(`${ruleText(menu, broken)} would work no more: ${why}`, 'jump-target');
  }
}

const isUnchanged = ({ before, after }: RowChange): boolean =>
  before?.disabled === after?.disabled && isDeepStrictEqual(before?.values, after?.values);

/**
 * False for a jump to a chain without rules. It need not be reported: after the last rule of that chain is removed, packets go on
 * behind the jump as they do without it.
 */
function hasTarget({ values }: Row, rows: readonly Row[]): boolean {
  const target = values['jump-target'];
  return target === undefined || rows.some((row) => row.values.chain === target);
}

/** `/ip/firewall/filter *1F (jump in chain forward)` */
const ruleText = (menu: string, { id, values }: Row): string =>
  `${menu} ${rowIdText(id)} (${values.action ?? 'accept'} in chain ${values.chain})`;
