/** The history of the configuration: what was changed by whom, and taking it back. */
import type { Revision, RevisionChange, revisionDetail, revisions } from '@tollway/protocol/revisions';
import { ask, send } from './rest.ts';

/** Newest first. @throws RequestError */
export const listRevisions = (): Promise<readonly Revision[]> =>
  ask<typeof revisions>('GET', '/api/v1/revisions', undefined, UNDO_LIMIT_MS);

/** What a revision did to its first rows. @throws RequestError */
export async function revisionRows(revision: number): Promise<readonly RevisionChange[]> {
  return (await ask<typeof revisionDetail>('GET', `/api/v1/revisions/${revision}`)).changes;
}

/** How long the answer to an undo is waited for, ms; the router itself gives up after some 15 s. The next undo waits meanwhile. */
const UNDO_LIMIT_MS = 30_000;

/** Takes a revision back. Returns the revision that did it. @throws RequestError that names each row in the way. */
export async function undoRevision(revision: number): Promise<number | undefined> {
  return (await send('POST', `/api/v1/revisions/${revision}/undo`, undefined, UNDO_LIMIT_MS)).revision;
}

/** The revision by which another one is taken back now; undefined when it is not. @throws RequestError */
export async function undoneBy(revision: number): Promise<number | undefined> {
  const found = (await listRevisions()).find((each) => each.revision === revision);
  // What was undone and done again can be undone anew.
  return found?.undo === '' ? undefined : found?.['undone-by'];
}
