/** The history of the configuration: what was changed by whom, and taking it back. */
import { isObject, request, send } from './rest.ts';

export interface Revision {
  readonly number: number;
  readonly author: string;
  /** `web` or `rest`; empty for the router itself. */
  readonly via: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly summary: string;
  /** How many rows it changed. */
  readonly rows: number;
  /** The revision that takes this one back. */
  readonly undoneBy: number | undefined;
  /** Why it cannot be taken back; empty when it can, undefined when only the attempt tells. */
  readonly undo: string | undefined;
}

/** What a revision did to a row. */
export interface RevisionRow {
  readonly menu: string;
  readonly id: string;
  readonly name: string;
  readonly action: string;
  readonly text: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const objects = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : []);

/** Newest first. @throws RequestError */
export async function listRevisions(): Promise<readonly Revision[]> {
  return objects((await send('GET', '/api/v1/revisions', undefined, UNDO_LIMIT_MS)).body).map((raw) => ({
    number: number(raw.revision) ?? 0,
    author: text(raw.author),
    via: text(raw.via),
    time: text(raw.time),
    summary: text(raw.summary),
    rows: number(raw.rows) ?? 0,
    undoneBy: number(raw['undone-by']),
    undo: typeof raw.undo === 'string' ? raw.undo : undefined,
  }));
}

/** What a revision did to its first rows. @throws RequestError */
export async function revisionRows(revision: number): Promise<readonly RevisionRow[]> {
  const answer = await request('GET', `/api/v1/revisions/${revision}`);
  return objects(isObject(answer) ? answer.changes : []).map((raw) => ({
    menu: text(raw.menu),
    id: text(raw['.id']),
    name: text(raw.name),
    action: text(raw.action),
    text: text(raw.text),
  }));
}

/** How long the answer to an undo is waited for, ms; the router itself gives up after some 15 s. The next undo waits meanwhile. */
const UNDO_LIMIT_MS = 30_000;

/** Takes a revision back. Returns the revision that did it. @throws RequestError that names each row in the way. */
export async function undoRevision(revision: number): Promise<number | undefined> {
  return (await send('POST', `/api/v1/revisions/${revision}/undo`, undefined, UNDO_LIMIT_MS)).revision;
}

/** The revision by which another one is taken back now; undefined when it is not. @throws RequestError */
export async function undoneBy(revision: number): Promise<number | undefined> {
  const found = (await listRevisions()).find(({ number }) => number === revision);
  // What was undone and done again can be undone anew.
  return found?.undo === '' ? undefined : found?.undoneBy;
}
