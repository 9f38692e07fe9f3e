/** Texts of the history. Pure. */
import type { Revision } from '@tollway/protocol/revisions';
import { dateAndTime } from '../../../ui/router-clock.ts';

/** Reason why a revision cannot be undone; empty when it can, or when this is unknown. */
export function whyNotUndone({ 'undone-by': undoneBy, undo }: Revision, group: string): string {
  if (group === 'read') return 'your group may only look';
  // An undone revision cannot be undone again; the revision that undid it can.
  if (undoneBy !== undefined && undo !== '') return `undone by ${undoneBy}`;
  return undo ?? '';
}

/**
 * Note beside Undo for revisions for which the router has not determined whether they can be undone; empty for others.
 */
export function unknownUndo({ undo }: Revision): string {
  return undo === undefined ? 'not checked yet' : '';
}

/** `2026-11-22 14:03:09` */
export function timeText(iso: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? '' : dateAndTime(time);
}

/** Revisions up to the one with this number; all revisions without a number. */
export function upTo(revisions: readonly Revision[], newest: number | undefined): readonly Revision[] {
  return newest === undefined ? revisions : revisions.filter(({ revision }) => revision <= newest);
}

/** Revisions that contain all the typed words. */
export function foundRevisions(revisions: readonly Revision[], typed: string): readonly Revision[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return revisions;
  return revisions.filter(({ revision, author, via, time, summary }) => {
    const text = `${revision} ${author} ${via} ${timeText(time)} ${summary}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
