import { type RowChange, type StoredRow, withoutRenumbered } from '../draft.js';

/** Stored revisions: the parts of them that an undo needs. */

/** A revision with its rows, as it is stored. */
export interface PastRevision {
  readonly number: number;
  readonly changes: readonly RowChange[];
  /** The revision that undoes it at present. */
  readonly revertedBy?: number | undefined;
}

/** A revision without the rows that were only renumbered: only other changes are shown and undone. */
export const withoutRenumbering = (past: PastRevision): PastRevision => ({
  ...past,
  changes: withoutRenumbered(past.changes),
});

/** Rank and name of a row before a revision. Without `before` the row did not exist. */
export interface RankBefore {
  readonly menu: string;
  readonly id: number;
  readonly before?: { readonly rank: number; readonly name: string | undefined };
}

/** Content of a row before a revision. Without `before` the row did not exist. */
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

/** Ranks and names before a revision of the rows that it changed. */
export const ranksOf = ({ number, changes }: PastRevision): RevisionRanks => ({
  number,
  changes: changes.map(({ menu, id, before }) => {
    return { menu, id, ...(before && { before: { rank: before.rank, name: before.values.name } }) };
  }),
});
