import { Readable } from 'node:stream';
import {
  type ImportLine as AnsweredLine,
  type ImportReport,
  queueImport,
  queueImportUndo,
} from '@tollway/protocol/queue-import';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { requirePermission } from '../auth/permissions.js';
import type { Revised } from '../config/store.js';
import { undoRevision } from '../config/undo/undo-revision.js';
import { ApiError, errors } from '../errors.js';
import { dryRun, type ImportLine, importDigest, QueueImport } from '../import/queues.js';
import { revertedLines } from '../import/reverted-lines.js';
import type { ProtocolTypes } from '../plugins/validation.js';
import { authorOf } from '../rest/author.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import type { Services } from '../services.js';

const QUEUES = '/queue/simple';

/** Imports a comma separated list as simple queues, in one revision. */
export function queueImportRoute(app: FastifyInstance, { store }: Services): void {
  const routes = app.withTypeProvider<ProtocolTypes>();
  const { body } = queueImport;
  // Permission is checked before the list is parsed: only users who may import it see its errors.
  const preValidation = async (request: FastifyRequest) => requirePermission(request.principal, 'write');
  routes.post(queueImport.path, { schema: { body }, preValidation }, async (request, reply) => {
    const { csv, digest, add = true, update = true, remove = false, 'dry-run': dry = false } = request.body;
    const queues = await QueueImport.read(csv, { add, update, remove });
    reply.type('application/json; charset=utf-8');
    if (dry) {
      const lines = await dryRun(store, queues);
      return Readable.from(json(lines, { digest: await importDigest(lines) }));
    }
    const { result: lines, revision } = await commit(store, authorOf(request.principal), queues, digest);
    return Readable.from(json(lines, { revision }));
  });
}

/**
 * Undoes the changes of a revision to simple queues, in one revision. Refused completely when one of the queues has
 * changed since.
 */
export function queueImportUndoRoute(app: FastifyInstance, services: Services): void {
  const routes = app.withTypeProvider<ProtocolTypes>();
  const { body } = queueImportUndo;
  const preValidation = async (request: FastifyRequest) => requirePermission(request.principal, 'write');
  routes.post(queueImportUndo.path, { schema: { body }, preValidation }, async (request): Promise<ImportReport> => {
    const { revision } = request.body;
    const { past, revision: made } = await undoRevision(
      services,
      authorOf(request.principal),
      revision,
      ({ changes }) => {
        const elsewhere = changes.find(({ menu }) => menu !== QUEUES);
        if (elsewhere === undefined) return;
        throw errors.failure(`revision ${revision} changed ${elsewhere.menu}, and not simple queues alone`);
      },
    );
    return { lines: revertedLines(past.changes).map(answeredLine), revision: made };
  });
}

/** The response in chunks, as a list may have a hundred thousand lines. */
async function* json(lines: readonly ImportLine[], end: Omit<ImportReport, 'lines'>): AsyncGenerator<string, void> {
  const slicer = new TimeSlicer();
  let text = '{"lines":[';
  for (const [index, line] of lines.entries()) {
    if (slicer.overAt(index)) await slicer.pause();
    text += `${index === 0 ? '' : ','}${JSON.stringify(answeredLine(line))}`;
    if (text.length > 1 << 16) {
      yield text;
      text = '';
    }
  }
  const more = Object.entries(end).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  yield `${text}]${more.map(([name, value]) => `,"${name}":${JSON.stringify(value)}`).join('')}}`;
}

const answeredLine = ({ row: _row, ...line }: ImportLine): AnsweredLine => line;

const CHANGED =
  'queues have changed since the dry run, and the list would do something else now: see what by another dry run';

async function commit(
  store: Services['store'],
  author: Parameters<Services['store']['commit']>[0],
  queues: QueueImport,
  digest: string | undefined,
): Promise<Revised<readonly ImportLine[]>> {
  let lines: readonly ImportLine[] = [];
  try {
    return await store.revise<readonly ImportLine[]>(author, summary, async (draft) => {
      lines = await queues.apply(draft);
      const errorLines = lines.filter(({ action }) => action === 'error');
      const [first] = errorLines;
      if (first !== undefined) {
        const more = errorLines.length > 1 ? `; and ${errorLines.length - 1} more lines are wrong` : '';
        throw errors.badRequest(`line ${first.line}: ${first.text}${more}`);
      }
      if (digest !== undefined && digest !== (await importDigest(lines))) throw errors.failure(CHANGED, 'digest');
      return lines;
    });
  } catch (error) {
    // The data plane reports the row at fault.
    const line =
      error instanceof ApiError ? lines.find(({ row }) => row !== undefined && row === error.row) : undefined;
    if (line === undefined || !(error instanceof ApiError)) throw error;
    throw new ApiError(error.status, `line ${line.line}: ${error.detail ?? error.message}`);
  }
}

function summary(lines: readonly ImportLine[]): string {
  const count = (action: ImportLine['action']) => lines.filter((line) => line.action === action).length;
  const parts = [`${count('add')} added`, `${count('change')} changed`, `${count('remove')} removed`];
  return `import /queue/simple: ${parts.join(', ')}`;
}
