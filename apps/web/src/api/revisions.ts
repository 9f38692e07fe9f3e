/** The history of the configuration, and undo. */
import type { Revision, RevisionChange, revisionDetail, revisions } from '@tollway/protocol/revisions';
import { ask, send } from './rest.ts';

/** Newest first. @throws RequestError */
export const listRevisions = (): Promise<readonly Revision[]> =>
  ask<typeof revisions>('GET', '/api/v1/revisions', undefined, UNDO_LIMIT_MS);

/** The first changed rows of a revision. @throws RequestError */
export async function revisionRows(revision: number): Promise<readonly RevisionChange[]> {
  return (await ask<typeof revisionDetail>('GET', `/api/v1/revisions/${revision}`)).changes;
}

/** Timeout of an undo, ms; the router aborts it after some 15 s. The next undo waits meanwhile. */
const UNDO_LIMIT_MS = 30_000;

/** Undoes a revision. Returns the new revision. @throws RequestError that names each conflicting row. */
export async function undoRevision(revision: number): Promise<number | undefined> {
  return (await send('POST', `/api/v1/revisions/${revision}/undo`, undefined, UNDO_LIMIT_MS)).revision;
}

/** The revision that has undone `revision`; undefined while `revision` is in effect. @throws RequestError */
export async function undoneBy(revision: number): Promise<number | undefined> {
  const found = (await listRevisions()).find((each) => each.revision === revision);
  // After a redo, the revision can be undone again and counts as not undone.
  return found?.undo === '' ? undefined : found?.['undone-by'];
}
