import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { requirePermission } from '../auth/permissions.js';
import { undoRevision } from '../config/revisions.js';
import type { Revised } from '../config/store.js';
import { ApiError, errors } from '../errors.js';
import { digestOf, dryRun, type ImportLine, type ImportOptions, QueueImport } from '../import/queues.js';
import { revertedLines } from '../import/undo.js';
import { authorOf } from '../rest/author.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import type { Services } from '../services.js';

const QUEUES = '/queue/simple';

/**
 * `POST /api/v1/queues/import`: a comma separated list becomes simple queues, in one revision.
 *
 * Body: `csv`; `dry-run` only tells; `add` and `update` (both true) and `remove` (false) say what may happen. Answer:
 * `lines` with what becomes of each (`line`, `action` add, change, remove, same or error, `name`, `text`, `hint`,
 * all of them of a dry run), and `revision` when it made one; of a dry run also their `digest`. A list with an error
 * changes nothing, nor does one with a `digest` that would do something else by now.
 */
export function queueImportRoute(app: FastifyInstance, { store }: Services): void {
  app.post('/api/v1/queues/import', async (request, reply) => {
    requirePermission(request.principal, 'write');
    const { csv, dry, digest, options } = read(request.body);
    const queues = await QueueImport.read(csv, options);
    reply.type('application/json; charset=utf-8');
    if (dry) {
      const lines = await dryRun(store, queues);
      return Readable.from(json(lines, { digest: await digestOf(lines) }));
    }
    const { result: lines, revision } = await commit(store, authorOf(request.principal), queues, digest);
    return Readable.from(json(lines, { revision }));
  });
}

/**
 * `POST /api/v1/queues/import/undo`: takes back what a revision did to simple queues, in one revision.
 *
 * Body: `revision`. Answer as that of the import. Refused as a whole when one of the queues has changed since.
 */
export function queueImportUndoRoute(app: FastifyInstance, services: Services): void {
  app.post('/api/v1/queues/import/undo', async (request) => {
    requirePermission(request.principal, 'write');
    const { revision, ...more } = fieldsOf(request.body);
    if (typeof revision !== 'number' || !Number.isSafeInteger(revision)) {
      throw errors.missingProperty('revision', 'the number of a revision that changed simple queues');
    }
    const [unknown] = Object.keys(more);
    if (unknown !== undefined) throw errors.unknownParameter(unknown);
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
    return { lines: revertedLines(past.changes).map(shown), revision: made };
  });
}

const fieldsOf = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.fromEntries(Object.entries(body)) : {};

/** The answer, in pieces: a list may have a hundred thousand lines. */
async function* json(
  lines: readonly ImportLine[],
  end: { readonly revision?: number | undefined; readonly digest?: string },
): AsyncGenerator<string, void> {
  const slicer = new TimeSlicer();
  let text = '{"lines":[';
  for (const [index, line] of lines.entries()) {
    if (slicer.overAt(index)) await slicer.pause();
    text += `${index === 0 ? '' : ','}${JSON.stringify(shown(line))}`;
    if (text.length > 1 << 16) {
      yield text;
      text = '';
    }
  }
  const more = Object.entries(end).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  yield `${text}]${more.map(([name, value]) => `,"${name}":${JSON.stringify(value)}`).join('')}}`;
}

const shown = ({ row: _row, ...line }: ImportLine): Omit<ImportLine, 'row'> => line;

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
      if (digest !== undefined && digest !== (await digestOf(lines))) throw errors.failure(CHANGED, 'digest');
      return lines;
    });
  } catch (error) {
    // The data plane names the row.
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

interface Given {
  readonly csv: string;
  readonly dry: boolean;
  /** That of a dry run, when nothing else is to be done than it reported. */
  readonly digest: string | undefined;
  readonly options: ImportOptions;
}

function read(body: unknown): Given {
  const fields = fieldsOf(body);
  const { csv } = fields;
  if (typeof csv !== 'string') throw errors.missingProperty('csv', 'a text with a line for each queue');
  const flag = (name: string, standard: boolean): boolean => {
    const value = fields[name] ?? standard;
    if (typeof value !== 'boolean') throw errors.badProperty(name, `value of ${name}: give true or false`);
    return value;
  };
  const { digest } = fields;
  if (digest !== undefined && typeof digest !== 'string') {
    throw errors.badProperty('digest', 'value of digest: give that of the dry run');
  }
  const known = ['csv', 'dry-run', 'digest', 'add', 'update', 'remove'];
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) throw errors.unknownParameter(unknown);
  return {
    csv,
    digest,
    dry: flag('dry-run', false),
    options: { add: flag('add', true), update: flag('update', true), remove: flag('remove', false) },
  };
}
