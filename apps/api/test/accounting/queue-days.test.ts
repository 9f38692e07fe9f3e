import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QueueAccounting } from '../../src/accounting/queue-days.js';
import { type QueueDay, QueueRecords } from '../../src/accounting/records.js';
import { QueueDump, RECORD } from '../../src/agent/queues.js';
import { type Database, openDatabase } from '../../src/database/client.js';
import { migrate, readMigrations } from '../../src/database/migrate.js';
import type { Row } from '../../src/snapshot/snapshot.js';

/** Bytes per day against counters, a clock and a database. */

// Deadlines only catch what hangs: the machine may be busy with other tests.
vi.setConfig({ hookTimeout: 600_000 });

const migrations = fileURLToPath(new URL('../../../../prisma/migrations/', import.meta.url));
const KEEP_DAYS = 3;

let folder: string;
let db: Database;
let rows: Row[];
/** Records of the data plane: row, part, bytes; one for each worker. */
let counters: (readonly [row: number, part: 0 | 1, bytes: number])[];
let pid: number;
/** Number of times that the counters were asked for. */
let asked: number;
let accounting: QueueAccounting;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  folder = await mkdtemp(join(tmpdir(), 'tollway-days-'));
  const url = `file:${join(folder, 'test.db')}`;
  await migrate(url, await readMigrations(migrations));
  db = openDatabase(url);
  [rows, counters, pid, asked] = [[queue(1)], [], 7, 0];
  start();
});
afterEach(async () => {
  vi.useRealTimers();
  await db.$disconnect();
  await rm(folder, { recursive: true, force: true });
});

const queue = (id: number, name = `q${id}`): Row => ({ id, values: { name }, disabled: false, comment: '' });

/** The program begins, or begins anew. */
function start(): void {
  accounting = new QueueAccounting(
    new QueueRecords(db),
    {
      store: {
        get snapshot() {
          return new Map([['/queue/simple', rows]]);
        },
      },
      live: {
        agent: {
          get hello() {
            return { pid };
          },
        },
        queues: async () => {
          asked += 1;
          return new QueueDump({ records: records() });
        },
        stats: async () => ({ 'now-ns': 5e9, 'uptime-ns': 4e9 }),
      },
      failed(error) {
        throw error;
      },
    },
    KEEP_DAYS,
  );
}

function records(): Buffer {
  const buffer = Buffer.alloc(RECORD * counters.length);
  for (const [number, [row, part, bytes]] of counters.entries()) {
    buffer.writeUInt32LE(row, RECORD * number);
    buffer.writeUInt8(part, RECORD * number + 6);
    buffer.writeBigUInt64LE(BigInt(bytes), RECORD * number + 8);
  }
  return buffer;
}

/** The clock of the router is set, and queue 1 has carried so much upload since the data plane began. */
async function at(time: string, upload: number): Promise<void> {
  vi.setSystemTime(new Date(time));
  counters = [[1, 0, upload]];
  await accounting.flush();
}

/** Bytes of upload by day. */
async function uploads(row?: number): Promise<Record<string, number>> {
  const reported: Record<string, number> = {};
  for await (const days of accounting.days('0000-01-01', '9999-12-31', row)) {
    for (const { day, upload } of days) reported[day] = (reported[day] ?? 0) + Number(upload);
  }
  return reported;
}

describe('the clock', () => {
  it('passes midnight, is set back before it, and passes it again', async () => {
    await at('2026-11-22T23:59:50', 1_000);
    await at('2026-11-23T00:00:20', 1_300);
    await at('2026-11-22T23:59:40', 1_350);
    await at('2026-11-23T00:00:05', 1_400);
    expect(await uploads()).toEqual({ '2026-11-22': 1_050, '2026-11-23': 350 });
    expect(await uploads(1)).toEqual({ '2026-11-22': 1_050, '2026-11-23': 350 });
  });

  it('that was never set counts nothing until it is', async () => {
    await at('2026-11-22T10:00:00', 5_000);
    // The machine boots: another data plane, and a clock that begins in 1970.
    pid += 1;
    start();
    await at('1970-01-01T00:00:30', 200);
    await at('2026-11-22T10:05:00', 300);
    expect(await uploads()).toEqual({ '2026-11-22': 5_300 });
  });

  it('that is years ahead for a while makes no day old, and later days go on from the newest counters', async () => {
    await at('2026-11-21T12:00:00', 1_000);
    await at('2026-11-22T12:00:00', 3_000);
    await at('2099-01-01T00:00:00', 3_100);
    await at('2099-01-02T00:00:00', 3_150);
    await at('2026-11-22T12:01:00', 3_200);
    start();
    await at('2026-11-22T12:02:00', 3_300);
    expect(await uploads()).toEqual({
      '2026-11-21': 1_000,
      '2026-11-22': 2_150,
      '2099-01-01': 100,
      '2099-01-02': 50,
    });
  });

  it('goes on from day to day: days before those that are kept go', async () => {
    for (let day = 10; day < 17; day += 1) await at(`2026-11-${day}T12:00:00`, 10 * day);
    expect(Object.keys(await uploads())).toEqual(['2026-11-13', '2026-11-14', '2026-11-15', '2026-11-16']);
  });
});

it('adds up what all workers say', async () => {
  vi.setSystemTime(new Date('2026-11-22T12:00:00'));
  counters = [
    [1, 0, 100],
    [1, 0, 40],
    [1, 1, 7],
  ];
  await accounting.flush();
  const reported = [];
  for await (const days of accounting.days('2026-11-22', '2026-11-22')) reported.push(...days);
  expect(reported).toEqual([
    { row: 1, day: '2026-11-22', menu: '/queue/simple', name: 'q1', upload: 140n, download: 7n },
  ]);
});

it('tells the queues of a day by their names, and those of one name by their numbers', async () => {
  vi.setSystemTime(new Date('2026-11-22T12:00:00'));
  rows = Array.from({ length: 1_500 }, (_, n) => queue(n + 1, `q${(n * 7_919) % 500}`));
  counters = rows.map(({ id }) => [id, 0, 1] as const);
  const reported: QueueDay[] = [];
  for await (const days of accounting.days('2026-11-22', '2026-11-22')) reported.push(...days);
  const inOrder = reported.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.row - b.row));
  expect(reported).toHaveLength(rows.length);
  expect(reported).toEqual(inOrder);
});

it('tells what is not stored yet, once', async () => {
  await at('2026-11-22T12:00:00', 100);
  counters = [[1, 0, 150]];
  expect(await uploads()).toEqual({ '2026-11-22': 150 });
  expect(await uploads(1)).toEqual({ '2026-11-22': 150 });
  expect((await db.queueDay.findMany()).map(({ upload }) => upload)).toEqual([100n]);
  await accounting.flush();
  expect(await uploads()).toEqual({ '2026-11-22': 150 });
  expect((await db.queueDay.findMany()).map(({ upload }) => upload)).toEqual([150n]);
});

it('tells a day under the name that the queue has, also one that carries nothing since', async () => {
  await at('2026-11-22T12:00:00', 100);
  start();
  await accounting.read();
  rows = [queue(1, 'renamed')];
  await accounting.flush();
  expect(await db.queueDay.findMany()).toMatchObject([{ day: '2026-11-22', name: 'renamed', upload: 100n }]);
});

it('keeps the days of a queue that is gone, but not where its counters stood', async () => {
  rows = [queue(1), queue(2)];
  vi.setSystemTime(new Date('2026-11-22T12:00:00'));
  counters = [
    [1, 0, 10],
    [2, 0, 20],
  ];
  await accounting.flush();
  rows = [queue(2)];
  start();
  await accounting.flush();
  expect(await uploads()).toEqual({ '2026-11-22': 30 });
  expect((await db.queueMeter.findMany()).map(({ row }) => row)).toEqual([2]);
});

it('asks for no counters where there are no queues', async () => {
  rows = [];
  await accounting.flush();
  expect(asked).toBe(0);
  rows = [queue(1)];
  await accounting.flush();
  expect(asked).toBe(1);
});

it('adds nothing twice when storing has failed', async () => {
  await at('2026-11-22T12:00:00', 100);
  await db.$executeRawUnsafe('ALTER TABLE "QueueMeter" RENAME TO "Away"');
  await expect(at('2026-11-22T12:01:00', 160)).rejects.toThrow();
  await db.$executeRawUnsafe('ALTER TABLE "Away" RENAME TO "QueueMeter"');
  await at('2026-11-22T12:02:00', 170);
  expect(await uploads()).toEqual({ '2026-11-22': 170 });
});

it('has what a reset ended when the program ends at once after it', async () => {
  await at('2026-11-22T12:00:00', 100);
  counters = [[1, 0, 130]];
  const last = { records: records() };
  await accounting.aroundReset([1], async () => {
    counters = [[1, 0, 0]];
    return last;
  });
  // It begins anew, and nobody has asked the one before to store anything.
  start();
  counters = [[1, 0, 5]];
  await accounting.read();
  expect(await uploads()).toEqual({ '2026-11-22': 135 });
});

it('leaves turns to others while it stores, and stores all of many queues', async () => {
  const queues = 5_000;
  rows = Array.from({ length: queues }, (_, index) => queue(index + 1));
  counters = rows.map(({ id }) => [id, 0, id] as const);
  vi.setSystemTime(new Date('2026-11-22T12:00:00'));
  await accounting.read();
  let turns = 0;
  let storing = true;
  const other = () => {
    turns += 1;
    if (storing) setImmediate(other);
  };
  setImmediate(other);
  await accounting.flush();
  storing = false;
  // Statements of at most 500 rows each.
  expect(turns).toBeGreaterThanOrEqual(queues / 500);
  const sum = (queues * (queues + 1)) / 2;
  expect(await uploads()).toEqual({ '2026-11-22': sum });
  start();
  expect(await uploads()).toEqual({ '2026-11-22': sum });
  expect(await uploads(queues)).toEqual({ '2026-11-22': queues });
});
