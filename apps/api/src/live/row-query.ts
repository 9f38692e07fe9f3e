import type { Condition } from '@tollway/protocol/live/row-query';

/** A query for rows of a menu: filter, order, and which rows of the result. The message `window` changes it. */
export interface RowQuery {
  readonly filter: readonly Condition[];
  /** Requested columns; flags, comment and `.about` are added. `undefined`: all properties. */
  readonly columns: readonly string[] | undefined;
  readonly find: string;
  readonly sort: SortOrder | undefined;
  /** Depth first, instead of one after the other. */
  readonly tree?: TreeShape | undefined;
  readonly first: number;
  readonly count: number;
}

/** A column, or the sum of several, joined by `+`. */
export interface SortOrder {
  readonly by: string;
  readonly desc: boolean;
}

/** Folded branches of a tree; rows of the tree come depth first. */
export interface TreeShape {
  /** Items are folded unless named in `except`; or unfolded unless named there. */
  readonly folded: boolean;
  /** `.id`s. */
  readonly except: ReadonlySet<string>;
}
