import type { Condition } from '@tollway/protocol/live/row-query';

/** A query for rows of a menu: filter, order, and the range of rows of the result. The message `window` changes it. */
export interface RowQuery {
  readonly filter: readonly Condition[];
  /** Requested columns; flags, comment and `.about` are added. `undefined`: all properties. */
  readonly columns: readonly string[] | undefined;
  readonly find: string;
  readonly sort: SortOrder | undefined;
  /** Shape of the tree whose rows are sent depth first; undefined for a flat list. */
  readonly tree?: TreeShape | undefined;
  readonly first: number;
  readonly count: number;
}

/** A column, or the sum of several, joined by `+`. */
export interface SortOrder {
  readonly by: string;
  readonly desc: boolean;
}

/** Collapsed and expanded branches of a tree, whose rows are sent depth first. */
export interface TreeShape {
  /** True: all items are collapsed except those in `except`. False: all are expanded except those. */
  readonly folded: boolean;
  /** `.id`s. */
  readonly except: ReadonlySet<string>;
}
