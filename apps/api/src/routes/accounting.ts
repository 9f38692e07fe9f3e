import { Readable } from 'node:stream';
import { type AccountedQueueDay, queueAccounting } from '@tollway/protocol/queue-accounting';
import type { FastifyInstance } from 'fastify';
import { localDay } from '../accounting/queue-days.js';
import type { QueueDay } from '../accounting/records.js';
import { errors } from '../errors.js';
import { clientGone } from '../plugins/auth.js';
import type { ProtocolTypes } from '../plugins/validation.js';
import type { Services } from '../services.js';
import { rowIdText } from '../snapshot/snapshot.js';

/**
 * `GET /api/v1/queue-accounting?from=2026-11-01&to=2026-11-30`: bytes per queue and day; with `queue=*1A` of one queue;
 * with `format=csv` as a CSV table. `from` and `to` default to today.
 */
export function accountingRoute(app: FastifyInstance, { accounting, lists }: Services): void {
  const routes = app.withTypeProvider<ProtocolTypes>();
  routes.get(queueAccounting.path, { schema: { querystring: queueAccounting.query } }, async (request, reply) => {
    const { to = localDay(new Date()), from = to, queue, format = 'json' } = request.query;
    if (from > to) throw errors.badProperty('from', `from must not be later than to, which is ${to}`);
    const { userId } = request.principal;
    await lists.acquire(userId, 1, clientGone(reply));
    const row = queue === undefined ? undefined : Number.parseInt(queue.slice(1), 16);
    const days = accounting.days(from, to, row, userId);
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
    const items = queues.map(({ row, menu, name, day, upload, download }) => {
      const item: AccountedQueueDay = {
        '.id': rowIdText(row),
        menu,
        name,
        day,
        upload: String(upload),
        download: String(download),
        total: String(upload + download),
      };
      return JSON.stringify(item);
    });
    yield before + items.join(',');
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** RFC 4180. A name that a spreadsheet would interpret as a formula is prefixed with an apostrophe. */
async function* csv(days: AsyncIterable<readonly QueueDay[]>): AsyncGenerator<string, void> {
  const field = (text: string) => {
    const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  };
  yield 'day,id,menu,name,upload,download,total\r\n';
  for await (const queues of days) {
    const lines = queues.map(({ day, row, menu, name, upload, download }) =>
      [day, rowIdText(row), menu, field(name), upload, download, upload + download].join(','),
    );
    yield lines.map((line) => `${line}\r\n`).join('');
  }
}
