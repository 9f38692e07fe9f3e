import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { KeyOf, RowsByKey } from '../snapshot/rows-by-key.js';
import type { FieldError, ProposedRow } from './proposed-row.js';

/** What holds for the rows of a menu beyond what its declaration says; its module under `menus/` has it. */
export interface MenuRules {
  /** What is wrong with a row beside the others; undefined when nothing is. */
  check?(proposed: ProposedRow): FieldError | undefined;
  /** What {@link check} looks rows up by, in menus that may have a hundred thousand of them. */
  readonly keys?: readonly KeyOf[];
}

/** By path of the menu. */
export type Rules = ReadonlyMap<string, MenuRules>;

/** Nothing beyond the declarations. */
export const NO_RULES: Rules = new Map();

/** Makes what rows of a menu are checked with, letting others work in between. */
export async function prepareChecks(rules: MenuRules | undefined, rows: RowsByKey, slicer: TimeSlicer): Promise<void> {
  for (const keyOf of rules?.keys ?? []) await rows.prepare(keyOf, slicer);
}
