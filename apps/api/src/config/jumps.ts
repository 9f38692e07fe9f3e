import { isDeepStrictEqual } from 'node:util';
import { errors } from '../errors.js';
import { type ConfigSnapshot, type Row, rowIdText, rowsOf } from '../snapshot/snapshot.js';
import type { RowChange } from './draft.js';
import type { ChecksByMenu } from './menu-checks.js';

/**
 * Effects of a changed jump on rules of other chains. A jump that closes a circle or nests too deep is invalid, and so
 * are the other jumps of the circle. A jump from `dstnat` to a chain makes rules of that chain invalid which work in
 * `srcnat` only. Drops and translations would stop working unnoticed: a change is refused if it makes rules invalid
 * that it does not itself change.
 */

/** Rows that cannot work, with the reasons. */
type Invalid = ReadonlyMap<number, string>;

/**
 * Refuses changes of firewall rules that make other, unchanged rules invalid.
 * @param snapshot the configuration after the changes
 * @throws ApiError that names such a rule, and the reason why it would be invalid
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
 * Whether a jump leads to a chain with rules. A jump to an empty chain need not be reported: after the last rule of the
 * chain is removed, packets continue after the jump as if the jump did not exist.
 */
function hasTarget({ values }: Row, rows: readonly Row[]): boolean {
  const target = values['jump-target'];
  return target === undefined || rows.some((row) => row.values.chain === target);
}

/** `/ip/firewall/filter *1F (jump in chain forward)` */
const ruleText = (menu: string, { id, values }: Row): string =>
  `${menu} ${rowIdText(id)} (${values.action ?? 'accept'} in chain ${values.chain})`;
