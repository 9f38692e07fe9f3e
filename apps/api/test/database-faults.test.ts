import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../src/database/client.js';
import {
  ask,
  checkpoint,
  comments,
  database,
  databaseOfAnother,
  directory,
  eachWithItsFolder,
  FILTER,
  healthy,
  listensAgain,
  readOnly,
  refusesWith,
  restoring,
  setUp,
  start,
  stop,
  url,
} from './api-process.js';
import { inSoak } from './soak.js';

/** A start with databases that cannot be used. */

eachWithItsFolder();

describe('a start with a database that', () => {
  beforeEach(setUp);

  it.each<[string, () => void, RegExp]>([
    ['is gone', () => rmSync(database()), /is gone/],
    ['is empty', () => writeFileSync(database(), ''), /is empty, and this router has been set up/],
    [
      'is damaged inside',
      () => {
        const bytes = readFileSync(database());
        bytes.fill(0x5a, 4096);
        writeFileSync(database(), bytes);
      },
      /is damaged/,
    ],
    ...inSoak<[string, () => void, RegExp]>(
      ['is not one', () => writeFileSync(database(), 'x'.repeat(50_000)), /is damaged/],
      ['is cut off', () => writeFileSync(database(), readFileSync(database()).subarray(0, 10_000)), /is damaged/],
    ),
  ])('%s', async (_, harm, problem) => {
    checkpoint();
    for (const end of ['-wal', '-shm']) rmSync(database() + end, { force: true });
    harm();
    await start();
    await refusesWith(problem, /npm start -- --restore/);
  });

  it('was made by a newer version is refused, and not changed', async () => {
    const db = openDatabase(`file:${database()}`);
    await db.$executeRawUnsafe(
      `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES ('x', 'y', 1, '20991231000000_later')`,
    );
    await db.$queryRawUnsafe('PRAGMA wal_checkpoint(TRUNCATE)');
    await db.$disconnect();
    const before = readFileSync(database());
    await start();
    await refusesWith(/was made by a newer version of Tollway/, /Start that version again/);
    await stop();
    expect(readFileSync(database()).equals(before)).toBe(true);
  });

  it.each<[string, string[], RegExp]>([
    ['has lost users', ['DROP TABLE "Session"', 'DROP TABLE "User"'], /is damaged \(no table (Session|User)\)/],
    [
      'has lost a column',
      ['ALTER TABLE "Audit" DROP COLUMN "address"'],
      /is damaged \(no column address in table Audit\)/,
    ],
    [
      'has a row that is no JSON',
      [`UPDATE "ConfigRow" SET data = '{oops' WHERE comment = 'mine'`],
      /is damaged \(a row of the configuration cannot be read: .+\)/,
    ],
    [
      'has another rule',
      [`UPDATE "ConfigRow" SET data = replace(data, 'udp', 'tcp') WHERE comment = 'mine'`],
      /is damaged \(rows of \/ip\/firewall\/filter are not those of revision \d+\)/,
    ],
    [
      'has nobody with a password that could be right',
      [`UPDATE "User" SET "passwordHash" = 'garbage'`],
      /has no user who may log in/,
    ],
    ['has a session that is none', [`INSERT INTO "Session" VALUES ('x', 'y', 'z', 'a', 'b')`], /cannot be used \(.+\)/],
    ...inSoak<[string, string[], RegExp]>(
      ['has lost what queues carried', ['DROP TABLE "QueueDay"'], /is damaged \(no table QueueDay\)/],
      ['has lost all rows', ['DROP TABLE "ConfigRow"'], /is damaged \(no table ConfigRow\)/],
      [
        'has a row without properties',
        [`UPDATE "ConfigRow" SET data = '[]' WHERE comment = 'mine'`],
        /is damaged \(a row of the configuration cannot be read: \*\w+ of \/ip\/firewall\/filter has no properties\)/,
      ],
      [
        'has lost the rules',
        [`DELETE FROM "ConfigRow" WHERE menu = '/ip/firewall/filter'`],
        /is damaged \(rows of \/ip\/firewall\/filter are not those of revision \d+\)/,
      ],
    ),
  ])('%s', async (_, harm, problem) => {
    const db = openDatabase(`file:${database()}`);
    for (const statement of ['PRAGMA foreign_keys = OFF', ...harm]) await db.$executeRawUnsafe(statement);
    await db.$queryRawUnsafe('PRAGMA wal_checkpoint(TRUNCATE)');
    await db.$disconnect();
    await start();
    await refusesWith(problem, /npm start -- --restore/);
    await stop();
    expect(restoring().code).toBe(0);
    await start();
    await healthy();
    expect(await comments()).toContain('mine');
  });

  it('has rows of a menu that is not known', async () => {
    const db = openDatabase(`file:${database()}`);
    await db.$executeRawUnsafe(`UPDATE "ConfigRow" SET menu = '/ip/firewall/later' WHERE comment = 'mine'`);
    await db.$queryRawUnsafe('PRAGMA wal_checkpoint(TRUNCATE)');
    await db.$disconnect();
    // As another version would have kept them.
    rmSync(join(directory, 'generations'), { recursive: true });
    await start();
    await refusesWith(
      /was made by a newer version of Tollway \(it has rows of \/ip\/firewall\/later\)/,
      /^Start that version again\.$/,
    );
  });

  it('is an old copy', async () => {
    checkpoint();
    copyFileSync(database(), `${database()}.copy`);
    await start();
    await healthy();
    const later = { chain: 'forward', action: 'accept', comment: 'later' };
    expect(await ask('PUT', `/rest${FILTER}`, later)).toMatchObject({ status: 201 });
    await stop();
    for (const end of ['-wal', '-shm']) rmSync(database() + end, { force: true });
    copyFileSync(`${database()}.copy`, database());
    await start();
    await refusesWith(/is older than the configuration that this router had last/, /--restore/);
  });

  it('is a copy from before a user was removed', async () => {
    await start();
    await healthy();
    const gone = { name: 'gone', group: 'full', password: 'staple battery' };
    const id = Object(await ask('PUT', '/rest/user', gone)).body['.id'];
    await stop();
    copyFileSync(database(), `${database()}.copy`);
    await start();
    await healthy();
    expect(await ask('DELETE', `/rest/user/${id}`)).toMatchObject({ status: 204 });
    await stop();
    for (const end of ['-wal', '-shm']) rmSync(database() + end, { force: true });
    copyFileSync(`${database()}.copy`, database());
    await start();
    await refusesWith(/is older than .+ had last \(revision \d+, but its users have changed since\)/, /--restore/);
    await stop();
    expect(restoring().code).toBe(0);
    await start();
    await healthy();
    const names = (await ask('GET', '/rest/user?.proplist=name')).body;
    expect(names).toEqual([{ name: 'admin' }]);
  });

  it('is that of another router, whatever its revision is', async () => {
    const other = await databaseOfAnother();
    copyFileSync(other, database());
    await start();
    await refusesWith(
      /is not that of this router, but of another one/,
      /--restore.*a new data folder, of this database alone/,
    );
    await stop();
    expect(restoring().code).toBe(0);
    await start();
    await healthy();
    expect(await comments()).toContain('mine');
    expect(await comments()).not.toContain('theirs');
    // The history of the other one is none of this one's.
    expect(JSON.stringify((await ask('GET', '/api/v1/revisions')).body)).not.toContain('theirs');
    await stop();
    // Who means it is not kept from it.
    copyFileSync(other, database());
    for (const name of ['generations', 'agent', 'users.changes', 'tollway.db-wal', 'tollway.db-shm']) {
      rmSync(join(directory, name), { recursive: true, force: true });
    }
    await start();
    await healthy();
    expect(await comments()).toContain('theirs');
  });

  it('is older than what the data plane has, and so are the copies: what goes is said', async () => {
    const header = Buffer.alloc(24);
    header.write('TOLLWAY\0', 'latin1');
    header.writeBigUInt64LE(99n, 16);
    mkdirSync(join(directory, 'agent'), { recursive: true });
    writeFileSync(join(directory, 'agent', 'active.tollway'), header);
    // Whoever was removed since would be back, so that nobody goes back without a word.
    await start();
    await refusesWith(
      /is older than .+ had last \(revision \d+; the data plane has 99\)/,
      /Stop the router and start it as before with --restore \d+ added/,
    );
    await stop();
    const refused = restoring();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^What was kept last is missing \(there was revision 99, the copies end with \d+\)/);
    const last = /--restore (\d+)\n$/.exec(refused.stderr)?.[1] ?? '';
    const { code, stdout } = restoring(last);
    expect(code).toBe(0);
    expect(stdout).toMatch(/as revision 100; .*; revision 99, which the data plane has and nothing else has kept, is/);
    expect(stdout).toMatch(
      /users are those of the newest whole copy, as what was kept last is missing: look at them\n$/,
    );
    rmSync(database());
    rmSync(join(directory, 'generations'), { recursive: true });
    expect(restoring()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Started without --restore the router/),
    });
    await start();
    await refusesWith(
      /is gone, and no copy of its configuration in .* can be read/,
      /Put back the database or the folder generations/,
    );
  });

  it('is of another program is refused, and not changed', async () => {
    for (const end of ['', '-wal', '-shm']) rmSync(database() + end, { force: true });
    const foreign = openDatabase(`file:${database()}`);
    await foreign.$executeRawUnsafe('CREATE TABLE "song" ("title" TEXT)');
    await foreign.$disconnect();
    const before = readFileSync(database());
    await start();
    await refusesWith(/was made by another program/, /Nothing in it was changed\. Move it away.*--restore/);
    await stop();
    expect(readFileSync(database()).equals(before)).toBe(true);
    expect(readdirSync(directory).filter((name) => /^tollway\.db-(wal|journal)$/.test(name))).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)('cannot be written is reported, and is used again when it can be', async () => {
    await start({}, readOnly());
    await refusesWith(/cannot be written: the file or its file system is read-only/, /Make it writable/);
    await stop();
    await start();
    await healthy();
    expect(await comments()).toContain('mine');
  });

  it('is a folder', async () => {
    for (const end of ['', '-wal', '-shm']) rmSync(database() + end, { force: true });
    mkdirSync(database());
    await start();
    await refusesWith(/tollway\.db is no file/, /Put the file back.*--restore/);
  });

  it('has a folder where its log should be', async () => {
    for (const end of ['-wal', '-shm']) rmSync(database() + end, { force: true });
    mkdirSync(`${database()}-wal`);
    await start();
    await refusesWith(/tollway\.db-wal is no file/, /Put the file back.*--restore/);
    rmdirSync(`${database()}-wal`);
    await listensAgain();
    expect(await comments()).toContain('mine');
  });

  it('cannot be used leaves limits on connections', async () => {
    for (const end of ['-wal', '-shm']) rmSync(database() + end, { force: true });
    writeFileSync(database(), 'x'.repeat(50_000));
    await start();
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: 400 }, () => connect(Number(port), hostname).on('error', () => undefined));
    await expect.poll(() => sockets.filter(({ closed }) => closed).length, { timeout: 15_000 }).toBeGreaterThan(100);
    expect((await ask('GET', '/healthz')).status).toBe(503);
    for (const socket of sockets) socket.destroy();
  });

  it('comes back goes on by itself', async () => {
    checkpoint();
    copyFileSync(database(), `${database()}.copy`);
    writeFileSync(database(), 'x'.repeat(50_000));
    await start();
    expect((await ask('GET', '/healthz')).status).toBe(503);
    copyFileSync(`${database()}.copy`, database());
    await listensAgain();
    expect(await comments()).toContain('mine');
  });
});
