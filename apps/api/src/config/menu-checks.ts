import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { KeyOf, RowsByKey } from '../snapshot/rows-by-key.js';
import type { FieldError, ProposedRow } from './proposed-row.js';

/** Checks of a menu beyond its declaration, from its module under `menus/`. */
export interface MenuChecks {
  /** Checks a row against the others; undefined when it is valid. */
  check?(proposed: ProposedRow): FieldError | undefined;
  /** Keys by which {@link check} looks rows up, in menus that may have a hundred thousand of them. */
  readonly keys?: readonly KeyOf[];
  /** Rows jump to others: a change is refused that makes rows invalid which it does not itself change. */
  readonly jumps?: true;
  /** Actions that block packets: an invalid row with one of these actions raises an alarm, as it lets packets pass. */
  readonly droppingActions?: readonly string[];
}

/** Checks of menus, by path. */
export type ChecksByMenu = ReadonlyMap<string, MenuChecks>;

/** No checks beyond the declarations. */
export const NO_CHECKS: ChecksByMenu = new Map();

/** Builds the indexes of a menu's checks in slices. */
export async function prepareChecks(
  checks: MenuChecks | undefined,
  rows: RowsByKey,
  slicer: TimeSlicer,
): Promise<void> {
  for (const keyOf of checks?.keys ?? []) await rows.prepare(keyOf, slicer);
}
