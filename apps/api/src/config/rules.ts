import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { KeyOf, RowsByKey } from '../snapshot/rows-by-key.js';
import type { FieldError, ProposedRow } from './proposed-row.js';

/** Checks of a menu beyond its declaration, from its module under `menus/`. */
export interface MenuRules {
  /** Checks a row against the others; undefined when it is valid. */
  check?(proposed: ProposedRow): FieldError | undefined;
  /** Keys by which {@link check} looks rows up, in menus that may have a hundred thousand of them. */
  readonly keys?: readonly KeyOf[];
}

/** Rules of menus, by path. */
export type Rules = ReadonlyMap<string, MenuRules>;

/** Rules without checks beyond the declarations. */
export const NO_RULES: Rules = new Map();

/** Builds the indexes of a menu's checks in slices. */
export async function prepareChecks(rules: MenuRules | undefined, rows: RowsByKey, slicer: TimeSlicer): Promise<void> {
  for (const keyOf of rules?.keys ?? []) await rows.prepare(keyOf, slicer);
}
