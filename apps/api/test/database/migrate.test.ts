import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readChangesFrom, readChangesOf, readRevision } from '../../src/config/revision-storage.js';
import { adapter, openDatabase } from '../../src/database/client.js';
import { type Migration, migrate, readMigrations } from '../../src/database/migrate.js';

const directory = fileURLToPath(new URL('../../../../prisma/migrations/', import.meta.url));
let folder: string;
let url: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollway-migrate-'));
  url = `file:${join(folder, 'test.db')}`;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function query(sql: string): Promise<unknown[][]> {
  const connection = await adapter(url).connect();
  try {
    return (await connection.queryRaw({ sql, args: [], argTypes: [] })).rows;
  } finally {
    await connection.dispose();
  }
}

const migration = (name: string, sql: string): Migration => ({
  name,
  sql,
  checksum: createHash('sha256').update(sql).digest('hex'),
});

describe('migrations', () => {
  it('are applied once and recorded as the Prisma CLI records them', async () => {
    const migrations = await readMigrations(directory);
    expect(await migrate(url, migrations)).toEqual(migrations.map((each) => each.name));
    expect(await migrate(url, migrations)).toEqual([]);
    const rows = await query(
      'SELECT migration_name, checksum, applied_steps_count, rolled_back_at, finished_at >= started_at FROM _prisma_migrations ORDER BY migration_name',
    );
    const expected = migrations.map(async ({ name }) => {
      const sql = await readFile(join(directory, name, 'migration.sql'));
      return [name, createHash('sha256').update(sql).digest('hex'), 1, null, 1];
    });
    expect(rows).toEqual(await Promise.all(expected));
    expect(await query('PRAGMA journal_mode')).toEqual([['wal']]);
  });

  it('give a database that the client works on, with foreign keys in force', async () => {
    await migrate(url, await readMigrations(directory));
    const db = openDatabase(url);
    const wrong = { tokenHash: 'x', userId: 5, expiresAt: new Date(), address: '' };
    await expect(db.session.create({ data: wrong })).rejects.toThrow(/foreign key/i);
    await db.$disconnect();
  });

  it('keep the days of queues, and the counters of the last of them', async () => {
    const migrations = await readMigrations(directory);
    const before = migrations.findIndex(({ name }) => name.endsWith('_queue_meters'));
    await migrate(url, migrations.slice(0, before));
    const largest = 2n ** 52n;
    const connection = await adapter(url).connect();
    await connection.executeScript(`INSERT INTO "QueueDay"
      ("row", "day", "menu", "name", "upload", "download", "seenUpload", "seenDownload", "run") VALUES
      (7, '2026-11-22', '/queue/simple', 'office', 30, ${largest}, 90, 95, 'newer'),
      (7, '2026-11-21', '/queue/simple', 'old name', 10, 20, 60, 65, 'older'),
      (8, '2026-11-20', '/queue/tree', 'leaf', 0, 5, 0, 5, 'older')`);
    await connection.dispose();
    await migrate(url, migrations);
    const db = openDatabase(url);
    expect(await db.queueDay.findMany({ orderBy: [{ row: 'asc' }, { day: 'asc' }] })).toEqual([
      { row: 7, day: '2026-11-21', menu: '/queue/simple', name: 'old name', upload: 10n, download: 20n },
      { row: 7, day: '2026-11-22', menu: '/queue/simple', name: 'office', upload: 30n, download: largest },
      { row: 8, day: '2026-11-20', menu: '/queue/tree', name: 'leaf', upload: 0n, download: 5n },
    ]);
    expect(await db.queueMeter.findMany({ orderBy: { row: 'asc' } })).toEqual([
      { row: 7, day: '2026-11-22', run: 'newer', seenUpload: 90n, seenDownload: 95n },
      { row: 8, day: '2026-11-20', run: 'older', seenUpload: 0n, seenDownload: 5n },
    ]);
    await db.$disconnect();
  });

  it('keep what revisions did, also beside one that cannot be read', async () => {
    const migrations = await readMigrations(directory);
    const before = migrations.findIndex(({ name }) => name.endsWith('_revision_diff_jsonb'));
    await migrate(url, migrations.slice(0, before));
    const after = { id: 5, rank: 0, disabled: false, comment: 'café', values: { address: '10.0.0.1/24' } };
    const changes = [{ menu: '/ip/address', id: 5, after }];
    const connection = await adapter(url).connect();
    await connection.executeScript(`INSERT INTO "Revision"
      ("number", "parent", "author", "via", "time", "summary", "undoes", "rows", "size", "sha256", "diff") VALUES
      (1, 0, 'ann', 'web', '2026-11-22T10:00:00.000Z', 'add', NULL, 1, 99, 'x', '${JSON.stringify(changes)}'),
      (2, 1, 'bob', 'rest', '2026-11-22T11:00:00.000Z', 'undo revision 1', 1, 1, 9, 'y', '[{"menu":')`);
    await connection.dispose();
    await migrate(url, migrations);
    const db = openDatabase(url);
    const line = { author: 'ann', via: 'web', summary: 'add', undoes: null, rows: 1, size: 99 };
    expect(await readRevision(db, 1)).toEqual({ ...line, number: 1, time: new Date('2026-11-22T10:00:00Z') });
    expect(await readRevision(db, 2)).toMatchObject({ author: 'bob', undoes: 1 });
    expect(await readChangesOf(db, 1, 10)).toEqual(changes);
    expect(await readChangesFrom(db, 1)).toEqual([
      { number: 2, changes: [] },
      { number: 1, changes },
    ]);
    await db.$disconnect();
  });

  it('that were changed after they were applied are refused', async () => {
    await migrate(url, [migration('1_a', 'CREATE TABLE a (x)')]);
    await expect(migrate(url, [migration('1_a', 'CREATE TABLE a (y)')])).rejects.toThrow(/1_a was changed/);
    await expect(migrate(url, [])).rejects.toThrow(/1_a/);
  });

  it('that fail leave nothing behind', async () => {
    const good = migration('1_a', 'CREATE TABLE a (x)');
    await migrate(url, [good]);
    const bad = migration('2_b', 'CREATE TABLE b (x); CREATE TABLE a (x);');
    await expect(migrate(url, [good, bad])).rejects.toThrow(/2_b failed/);
    expect(await query("SELECT name FROM sqlite_master WHERE name = 'b'")).toEqual([]);
    expect(await query('SELECT migration_name FROM _prisma_migrations')).toEqual([['1_a']]);
    await migrate(url, [good, migration('2_b', 'CREATE TABLE b (x);')]);
    expect(await query("SELECT name FROM sqlite_master WHERE name = 'b'")).toEqual([['b']]);
  });
});
