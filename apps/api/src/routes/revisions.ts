import {
  type RevisionChange,
  type RevisionDetail,
  type Revisions,
  type RevisionUndone,
  revisionDetail,
  revisions,
  revisionUndo,
} from '@tollway/protocol/revisions';
import { type Menu, menuByPath } from '@tollway/schema';
import type { FastifyInstance } from 'fastify';
import { requirePermission } from '../auth/permissions.js';
import { describeChange } from '../config/change-summary.js';
import { type RowChange, type RowContent, withoutRenumbered } from '../config/draft.js';
import { storedProps } from '../config/items.js';
import { readChangesOf, readRevision, readRevisions } from '../config/revision-storage.js';
import type { PastRevision } from '../config/undo/revision.js';
import { undoReasons, undoRevision } from '../config/undo/undo-revision.js';
import { errors } from '../errors.js';
import type { ProtocolTypes } from '../plugins/validation.js';
import { authorOf } from '../rest/author.js';
import type { Services } from '../services.js';
import { builtinRow } from '../snapshot/builtin.js';
import { rowIdText } from '../snapshot/snapshot.js';

/** Maximum number of rows of a revision that are listed. */
const MAX_ROWS = 200;

/**
 * The history of the configuration, newest first: the last 1,000 revisions, or fewer when they take more than 64 MiB.
 *
 * - `GET /api/v1/revisions`: `revision`, `author`, `via`, `time`, `summary`, `rows`, `undoes` (the revision that it
 * undoes), `undone-by` (the newest revision that undoes it) and `undo`: empty when it can be undone, or else the
 * reason; absent when only an attempt shows whether it is possible.
 * - `GET /api/v1/revisions/N`: the change of each row, in words.
 * - `POST /api/v1/revisions/N/undo`: undoes it in one revision, or responds with the reason for each row that prevents
 * it.
 */
export function revisionRoutes(app: FastifyInstance, services: Services): void {
  const { db } = services;
  let newest: { readonly revision: number; readonly list: Promise<Revisions> } | undefined;
  const routes = app.withTypeProvider<ProtocolTypes>();
  routes.get(revisions.path, { schema: { querystring: revisions.query } }, async () => {
    const { revision } = services.store;
    // Cached until the next revision, and shared by concurrent requests.
    if (newest?.revision !== revision) newest = { revision, list: history(services) };
    const { list } = newest;
    list.catch(() => {
      if (newest?.list === list) newest = undefined;
    });
    return list;
  });

  const { params, query: querystring } = revisionDetail;
  routes.get(revisionDetail.path, { schema: { params, querystring } }, async (request): Promise<RevisionDetail> => {
    const number = Number(request.params.revision);
    const line = await readRevision(db, number);
    if (line === undefined) throw errors.noSuchItem();
    const changes = await readChangesOf(db, number, MAX_ROWS);
    return {
      revision: number,
      author: line.author,
      via: line.via,
      time: line.time.toISOString(),
      summary: line.summary,
      rows: line.rows,
      changes: withoutRenumbered(changes).map(inWords),
    };
  });

  const { body } = revisionUndo;
  routes.post(revisionUndo.path, { schema: { params, body } }, async (request): Promise<RevisionUndone> => {
    const number = Number(request.params.revision);
    const { principal } = request;
    // Users with the permission `read` only do not get the rows.
    requirePermission(principal, 'write');
    const allowed = ({ changes }: PastRevision) => {
      for (const menu of new Set(changes.map((change) => change.menu))) {
        requirePermission(principal, menuByPath(menu)?.commands.get('set')?.permission ?? 'write');
      }
    };
    const { revision } = await undoRevision(services, authorOf(principal), number, allowed);
    return { undone: number, revision };
  });
}

/** The revisions that are kept, newest first. */
async function history(services: Services): Promise<Revisions> {
  const lines = await readRevisions(services.db);
  const undo = await undoReasons(services, lines);
  const undoneBy = new Map<number, number>();
  for (const { number, undoes } of lines) {
    if (undoes !== null && !undoneBy.has(undoes)) undoneBy.set(undoes, number);
  }
  return lines.map(({ number, author, via, time, summary, rows, undoes }) => ({
    revision: number,
    author,
    via,
    time: time.toISOString(),
    summary,
    rows,
    ...(undoes !== null && { undoes }),
    ...(undoneBy.has(number) && { 'undone-by': undoneBy.get(number) }),
    ...(undo.has(number) && { undo: undo.get(number) }),
  }));
}

/**
 * A row as it is shown. Before its first change, that of a settings menu and a built-in one are not stored, though they
 * exist.
 */
function shownRow(menu: Menu, id: number, row: RowContent | undefined): RowContent | undefined {
  if (menu.kind !== 'settings') return row ?? builtinRow(menu, { id });
  const defaults = Object.entries(storedProps(menu)).flatMap(([name, prop]) =>
    prop.default === undefined ? [] : [[name, prop.default]],
  );
  const { values = {}, disabled = false, comment = '' } = row ?? {};
  return { values: { ...Object.fromEntries(defaults), ...values }, disabled, comment };
}

/** Change of a row in words. */
function inWords({ menu: path, id, ...change }: RowChange): RevisionChange {
  const menu = menuByPath(path);
  const [before, after] = [change.before, change.after].map((row) =>
    menu === undefined ? row : shownRow(menu, id, row),
  );
  const row = after ?? before;
  const common = { menu: path, '.id': rowIdText(id), name: row?.values.name ?? '' };
  if (menu === undefined || row === undefined) return { ...common, action: 'change', text: '' };
  if (after === undefined) return { ...common, action: 'remove', text: describeChange(menu, undefined, row) };
  if (before === undefined) return { ...common, action: 'add', text: describeChange(menu, undefined, row) };
  const text = [
    ...(before.values.name === after.values.name ? [] : [`name ${before.values.name} → ${after.values.name}`]),
    describeChange(menu, before, after),
  ].filter((part) => part !== '');
  return text.length === 0
    ? { ...common, action: 'move', text: 'moved' }
    : { ...common, action: 'change', text: text.join(', ') };
}
