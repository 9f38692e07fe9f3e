import type { Condition } from '@tollway/protocol/live/window';

/** What a browser sees of a menu: which rows, in which order, from which on. */
export interface MenuWindow {
  readonly filter: readonly Condition[];
  /** Columns that are shown: only these are sent, with the flags, the comment and `.about`. `undefined`: everything. */
  readonly columns: readonly string[] | undefined;
  readonly find: string;
  readonly sort: SortOrder | undefined;
  /** Depth first, instead of one after the other. */
  readonly tree?: TreeShape | undefined;
  readonly first: number;
  readonly count: number;
}

/** A column, or several with `+` between them: then their sum. */
export interface SortOrder {
  readonly by: string;
  readonly desc: boolean;
}

/** How a window shows a menu whose items have parents: depth first, what is below a folded item left out. */
export interface TreeShape {
  /** Items are folded unless named in `except`; or unfolded unless named there. */
  readonly folded: boolean;
  /** `.id`s. */
  readonly except: ReadonlySet<string>;
}
