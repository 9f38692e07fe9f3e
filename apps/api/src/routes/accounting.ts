import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { localDay } from '../accounting/queue-days.js';
import type { QueueDay } from '../accounting/records.js';
import { errors } from '../errors.js';
import { clientGone } from '../plugins/auth.js';
import type { Services } from '../services.js';
import { parametersOf } from './parameters.js';

const DAY = /^\d{4}-\d\d-\d\d$/;
const ID = /^\*([0-9a-f]{1,8})$/i;

/**
 * `GET /api/v1/queue-accounting?from=2026-11-01&to=2026-11-30`: bytes per queue and day, with `queue=*1A` those of one
 * queue, with `format=csv` as a table. Without `from` and `to` it is today.
 */
export function accountingRoute(app: FastifyInstance, { accounting, lists }: Services): void {
  app.get('/api/v1/queue-accounting', async (request, reply) => {
    const query = parametersOf(request.url, ['from', 'to', 'queue', 'format']);
    const to = dayOf(query, 'to') ?? localDay(new Date());
    const from = dayOf(query, 'from') ?? to;
    if (from > to) throw errors.badProperty('from', `from must not be later than to, which is ${to}`);
    const queue = queueOf(query);
    const format = query.get('format') ?? 'json';
    if (format !== 'json' && format !== 'csv') throw errors.badProperty('format', 'format must be json or csv');
    const { userId } = request.principal;
    await lists.enter(userId, 1, clientGone(reply));
    const days = accounting.days(from, to, queue, userId);
    if (format === 'csv') {
      const file = `attachment; filename="queues-${from}-${to}.csv"`;
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', file)
        .send(Readable.from(csv(days)));
    }
    return reply.type('application/json; charset=utf-8').send(Readable.from(json(days)));
  });
}

async function* json(days: AsyncIterable<readonly QueueDay[]>): AsyncGenerator<string, void> {
  let before = '[';
  for await (const queues of days) {
    const items = queues.map(({ row, menu, name, day, upload, download }) =>
      JSON.stringify({
        '.id': idOf(row),
        menu,
        name,
        day,
        upload: String(upload),
        download: String(download),
        total: String(upload + download),
      }),
    );
    yield before + items.join(',');
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

function dayOf(query: URLSearchParams, property: 'from' | 'to'): string | undefined {
  const text = query.get(property);
  if (text === null) return undefined;
  if (!DAY.test(text) || !isInCalendar(text))
    throw errors.badProperty(property, `${property} must be a day, e.g. 2026-11-30`);
  return text;
}

/** Not so the 30th of February: it is told as the 1st or 2nd of March, or is no date at all. */
function isInCalendar(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

function queueOf(query: URLSearchParams): number | undefined {
  const text = query.get('queue');
  if (text === null) return undefined;
  const id = ID.exec(text)?.[1];
  if (id === undefined) throw errors.badProperty('queue', 'queue must be the .id of a queue, e.g. *1A');
  return Number.parseInt(id, 16);
}

const idOf = (row: number): string => `*${row.toString(16).toUpperCase()}`;

/** RFC 4180. A name that a spreadsheet would take for a formula is told with an apostrophe before it. */
async function* csv(days: AsyncIterable<readonly QueueDay[]>): AsyncGenerator<string, void> {
  const field = (text: string) => {
    const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  };
  yield 'day,id,menu,name,upload,download,total\r\n';
  for await (const queues of days) {
    const lines = queues.map(({ day, row, menu, name, upload, download }) =>
      [day, idOf(row), menu, field(name), upload, download, upload + download].join(','),
    );
    yield lines.map((line) => `${line}\r\n`).join('');
  }
}
