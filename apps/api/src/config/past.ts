import { ownChanges, type RowChange, type StoredRow } from './draft.js';

/** Revisions that were stored, as far as taking one back needs to know them. */

/** A revision with its rows, as it is stored. */
export interface PastRevision {
  readonly number: number;
  readonly changes: readonly RowChange[];
  /** The revision by which it is taken back at present. */
  readonly revertedBy?: number | undefined;
}

/** Changes of rows by the revision itself, which others may look at or undo. */
export const ownOf = (past: PastRevision): PastRevision => ({ ...past, changes: ownChanges(past.changes) });

/** Rank and name of a row before a revision; one without `before` was not there. */
export interface PlaceBefore {
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

/** A revision, as far as it tells where rows stood, and how they were called. */
export interface PastPlaces {
  readonly number: number;
  /** The revision that it took back. */
  readonly undoes?: number;
  readonly changes: readonly PlaceBefore[];
}

/** Places of the rows of a revision before it. */
export const placesOf = ({ number, changes }: PastRevision): PastPlaces => ({
  number,
  changes: changes.map(({ menu, id, before }) => {
    return { menu, id, ...(before && { before: { rank: before.rank, name: before.values.name } }) };
  }),
});
