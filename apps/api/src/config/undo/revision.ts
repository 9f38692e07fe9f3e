import { type RowChange, type StoredRow, withoutRenumbered } from '../draft.js';

/** Stored revisions, as far as the undo of one needs to know them. */

/** A revision with its rows, as it is stored. */
export interface PastRevision {
  readonly number: number;
  readonly changes: readonly RowChange[];
  /** The revision by which it is undone at present. */
  readonly revertedBy?: number | undefined;
}

/** A revision without the rows that it only renumbered: the changes that others may look at or undo. */
export const withoutRenumbering = (past: PastRevision): PastRevision => ({
  ...past,
  changes: withoutRenumbered(past.changes),
});

/** Rank and name of a row before a revision; one without `before` was not there. */
export interface RankBefore {
  readonly menu: string;
  readonly id: number;
  readonly before?: { readonly rank: number; readonly name: string | undefined };
}

/** Content of a row before a revision; one without `before` was not there. */
export interface RowBefore {
  readonly menu: string;
  readonly id: number;
  readonly before?: StoredRow;
}

/** The part of a revision with the former ranks and names of rows. */
export interface RevisionRanks {
  readonly number: number;
  /** The revision that it undoes. */
  readonly undoes?: number;
  readonly changes: readonly RankBefore[];
}

/** Ranks and names of the rows of a revision before it. */
export const ranksOf = ({ number, changes }: PastRevision): RevisionRanks => ({
  number,
  changes: changes.map(({ menu, id, before }) => {
    return { menu, id, ...(before && { before: { rank: before.rank, name: before.values.name } }) };
  }),
});
