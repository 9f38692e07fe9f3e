import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../src/database/client.js';
import { AgentPeer } from './agent-peer.js';
import { rawRequest } from './raw-request.js';
import { PASSWORD } from './router.js';

/** The API as a process, with databases that cannot be used. `npm run build` has to have been run. */

vi.setConfig({ testTimeout: 120_000 });

const dist = (name: string) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));
const FILTER = '/ip/firewall/filter';

let directory: string;
let peer: AgentPeer;
let api: ChildProcess | undefined;
let output = '';
let url = '';
const database = () => join(directory, 'tollway.db');

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollway-faults-'));
  peer = new AgentPeer(join(directory, 'agent.sock'));
  await peer.start();
});
afterEach(async () => {
  await stop();
  await peer.stop();
  rmSync(directory, { recursive: true, force: true });
});

const environment = () => ({
  ...process.env,
  TOLLWAY_DATA_DIR: directory,
  TOLLWAY_AGENT_SOCKET: join(directory, 'agent.sock'),
  TOLLWAY_LISTEN: '127.0.0.1:0',
  TOLLWAY_DEFAULTS: 'lab',
  TOLLWAY_ADMIN_PASSWORD: PASSWORD,
});

/** Runs a program in a mount namespace in which the data folder is read-only. */
const readOnly = (): readonly string[] => [
  'unshare',
  '-m',
  'sh',
  '-c',
  'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"',
  directory,
];

async function start(more: Record<string, string> = {}, within: readonly string[] = []): Promise<void> {
  output = '';
  const [program = '', ...args] = [...within, process.execPath, dist('server.js')];
  const child = spawn(program, args, { env: { ...environment(), ...more } });
  api = child;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  await expect.poll(() => /listening on (\S+)/.exec(output)?.[1], { timeout: 60_000 }).toBeDefined();
  url = /.*listening on (\S+)/s.exec(output)?.[1] ?? '';
}

async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const child = api;
  api = undefined;
  if (child === undefined || child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.on('exit', resolve));
  child.kill(signal);
  await ended;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

async function ask(method: string, path: string, body?: unknown): Promise<Reply> {
  const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
  const response = await fetch(url + path, {
    method,
    headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
}
const healthy = () => expect.poll(async () => (await ask('GET', '/healthz')).status, { timeout: 30_000 }).toBe(200);
const comments = async () => {
  const { body } = await ask('GET', `/rest${FILTER}?.proplist=comment`);
  return Array.isArray(body) ? body.map((row: { comment?: string }) => row.comment) : body;
};

/** A router that has been set up, with one rule of its own, and ends. */
async function setUp(): Promise<void> {
  await start();
  await healthy();
  const rule = { chain: 'forward', action: 'drop', protocol: 'udp', comment: 'mine' };
  expect((await ask('PUT', `/rest${FILTER}`, rule)).status).toBe(201);
  await stop();
}

function restoring(...generation: string[]): { code: number | null; stdout: string; stderr: string } {
  const child = spawnNow([dist('restore.js'), ...generation]);
  return { code: child.status, stdout: child.stdout, stderr: child.stderr };
}
const { spawnSync } = await import('node:child_process');
const spawnNow = (args: readonly string[]) =>
  spawnSync(process.execPath, args, { env: environment(), encoding: 'utf8' });

/** What all faults have in common: said clearly everywhere, nothing set up anew, nothing pushed over the agent. */
async function refusesWith(problem: RegExp, remedy: RegExp): Promise<void> {
  const { active, revision, prepares } = peer;
  const health = await ask('GET', '/healthz');
  expect(health.status).toBe(503);
  expect(health.body).toMatchObject({
    status: 'unavailable',
    concerns: 'database',
    problem: expect.stringMatching(problem),
    remedy: expect.stringMatching(remedy),
  });
  for (const [method, path] of [
    ['GET', `/rest${FILTER}`],
    ['PUT', `/rest${FILTER}`],
    ['GET', '/api/v1/session'],
    ['POST', '/api/v1/login'],
    ['POST', '/api/v1/setup'],
  ] as const) {
    const { status, body } = await ask(method, path, method === 'GET' ? undefined : {});
    expect([path, status]).toEqual([path, 503]);
    expect(body).toMatchObject({ error: 503, message: 'Service Unavailable', detail: expect.stringMatching(problem) });
    expect(body).not.toHaveProperty('setup');
  }
  expect(existsSync(join(directory, 'run', 'setup-token'))).toBe(false);
  expect(output).toMatch(problem);
  expect(output).not.toMatch(/\n\s+at /);
  await expect
    .poll(async () => (await ask('GET', '/healthz')).body, { timeout: 10_000 })
    .toMatchObject({ forwarding: true, revision });
  expect([peer.prepares, peer.revision]).toEqual([prepares, revision]);
  expect(peer.active).toBe(active);
}

/** The database of another router, which has been changed more often; it is left in its one file. */
async function databaseOfAnother(): Promise<string> {
  const other = join(directory, 'other');
  const itsAgent = new AgentPeer(join(directory, 'other.sock'));
  await itsAgent.start();
  await start({ TOLLWAY_DATA_DIR: other, TOLLWAY_AGENT_SOCKET: join(directory, 'other.sock') });
  await healthy();
  expect((await ask('PUT', '/rest/user', { name: 'eve', group: 'full', password: 'staple battery' })).status).toBe(201);
  for (const comment of ['theirs', 'theirs too', 'and theirs']) {
    const rule = { chain: 'forward', action: 'accept', comment };
    expect((await ask('PUT', `/rest${FILTER}`, rule)).status).toBe(201);
  }
  await stop();
  await itsAgent.stop();
  return join(other, 'tollway.db');
}

/**
 * Has all of the database in its one file. By a process of its own: a connection of this one that is closed late would write
 * what came since into the file that has been put in its place.
 */
function checkpoint(): void {
  const script = `
    const { openDatabase } = await import(${JSON.stringify(dist('database/client.js'))});
    const db = openDatabase(${JSON.stringify(`file:${database()}`)});
    await db.$queryRawUnsafe('PRAGMA wal_checkpoint(TRUNCATE)');
    await db.$disconnect();`;
  const { status, stderr } = spawnNow(['--input-type=module', '--eval', script]);
  expect(status, stderr).toBe(0);
}

describe('a start with a database that', () => {
  beforeEach(setUp);

  it.each([
    ['is gone', () => rmSync(database()), /is gone/],
    ['is empty', () => writeFileSync(database(), ''), /is empty, and this router has been set up/],
    ['is not one', () => writeFileSync(database(), 'x'.repeat(50_000)), /is damaged/],
    [
      'is damaged inside',
      () => {
        const bytes = readFileSync(database());
        bytes.fill(0x5a, 4096);
        writeFileSync(database(), bytes);
      },
      /is damaged/,
    ],
    ['is cut off', () => writeFileSync(database(), readFileSync(database()).subarray(0, 10_000)), /is damaged/],
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

  it.each([
    ['has lost users', ['DROP TABLE "Session"', 'DROP TABLE "User"'], /is damaged \(no table (Session|User)\)/],
    ['has lost what queues carried', ['DROP TABLE "QueueDay"'], /is damaged \(no table QueueDay\)/],
    [
      'has lost a column',
      ['ALTER TABLE "Audit" DROP COLUMN "address"'],
      /is damaged \(no column address in table Audit\)/,
    ],
    ['has lost all rows', ['DROP TABLE "ConfigRow"'], /is damaged \(no table ConfigRow\)/],
    [
      'has a row that is no JSON',
      [`UPDATE "ConfigRow" SET data = '{oops' WHERE comment = 'mine'`],
      /is damaged \(a row of the configuration cannot be read: .+\)/,
    ],
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

  it.runIf(process.getuid?.() === 0)('cannot be written is told, and is used again when it can be', async () => {
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
    await expect.poll(() => output.match(/listening on/g)?.length, { timeout: 30_000 }).toBe(2);
    url = /.*listening on (\S+)/s.exec(output)?.[1] ?? '';
    await healthy();
    expect(await comments()).toContain('mine');
  });

  it('cannot be used leaves limits on connections', async () => {
    for (const end of ['-wal', '-shm']) rmSync(database() + end, { force: true });
    writeFileSync(database(), 'x'.repeat(50_000));
    await start();
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: 400 }, () => connect(Number(port), hostname).on('error', () => undefined));
    await expect.poll(() => sockets.filter(({ closed }) => closed).length, { timeout: 5_000 }).toBeGreaterThan(100);
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
    await expect.poll(() => output.match(/listening on/g)?.length, { timeout: 30_000 }).toBe(2);
    url = /.*listening on (\S+)/s.exec(output)?.[1] ?? '';
    await healthy();
    expect(await comments()).toContain('mine');
  });
});

/** `.id` of the item in an answer. */
const idOf = ({ body }: { body: unknown }): unknown => Object(body)['.id'];

describe('--restore', () => {
  beforeEach(setUp);

  it('rebuilds a damaged database with the users, and keeps the old one', async () => {
    const rules = peer.active?.filter;
    for (const end of ['-wal', '-shm']) rmSync(database() + end, { force: true });
    writeFileSync(database(), 'x'.repeat(50_000));
    const { code, stdout, stderr } = restoring();
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^restored generation \d+ of .* \(add .*\) as revision \d+; .* is kept as \S+\.aside\n$/);
    const aside = readdirSync(directory).find((name) => name.endsWith('.aside'));
    expect(readFileSync(join(directory, aside ?? ''), 'utf8')).toBe('x'.repeat(50_000));
    // Whoever was interrupted then gives the same command again.
    const again = restoring();
    expect([again.code, again.stderr]).toEqual([0, '']);
    await start({ TOLLWAY_ADMIN_PASSWORD: 'another password' });
    await healthy();
    expect(await comments()).toContain('mine');
    expect(peer.active?.filter).toEqual(rules);
    const added = await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept' });
    expect(added.status).toBe(201);
  });

  it('goes back to an earlier generation, and keeps what queues carried', async () => {
    const { revision } = peer;
    await start();
    await healthy();
    const later = await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', comment: 'later' });
    await stop();
    const db = openDatabase(`file:${database()}`);
    await db.queueDay.create({
      data: { row: 7, day: '2026-11-22', menu: '/queue/simple', name: 'q', upload: 5n, download: 6n },
    });
    await db.$disconnect();
    expect(restoring('9999').stderr).toMatch(/^There is no generation 9999 in .*; there are .* to \d+\.\n$/);
    expect(restoring(String(revision)).code).toBe(0);
    await start();
    await healthy();
    const found = await comments();
    expect(found).toContain('mine');
    expect(found).not.toContain('later');
    expect(peer.revision).toBeGreaterThan(revision + 1);
    // The history says what that did, and no id stands for two rows.
    const { body: told } = await ask('GET', `/api/v1/revisions/${peer.revision}`);
    expect(told).toMatchObject({ rows: 1, changes: [{ menu: FILTER, action: 'remove', '.id': idOf(later) }] });
    const fresh = await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept' });
    expect(idOf(fresh)).not.toBe(idOf(later));
    await stop();
    const kept = openDatabase(`file:${database()}`);
    expect(await kept.queueDay.count()).toBe(1);
    await kept.$disconnect();
  });

  it('takes nothing from the log of a database that is gone', async () => {
    const { revision } = peer;
    await start();
    await healthy();
    await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', comment: 'later' });
    await stop('SIGKILL');
    rmSync(database());
    expect(statSync(`${database()}-wal`).size).toBeGreaterThan(0);
    expect(restoring(String(revision))).toMatchObject({ code: 0, stderr: '' });
    await start();
    await healthy();
    const found = await comments();
    expect(found).toContain('mine');
    expect(found).not.toContain('later');
    const db = openDatabase(`file:${database()}`);
    expect(await db.$queryRawUnsafe('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    await db.$disconnect();
  });

  it('reaches what was before many starts', async () => {
    const { revision } = peer;
    for (const comment of ['a', 'b', 'c', 'd', 'e']) {
      await start();
      await healthy();
      await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', comment });
      await stop();
    }
    expect(peer.revision).toBe(revision + 5);
    expect(restoring('9999').stderr).toMatch(
      new RegExp(`^There is no generation 9999 in .*; there are \\d+ to ${revision + 5}\\.\n$`),
    );
    expect(restoring(String(revision + 1)).code).toBe(0);
    await start();
    await healthy();
    const found = await comments();
    expect(found).toContain('a');
    expect(found).not.toContain('b');
  });

  it('keeps the ids of users, and gives none a second time', async () => {
    await start();
    await healthy();
    const add = async (name: string) =>
      idOf(await ask('PUT', '/rest/user', { name, group: 'read', password: 'a password of theirs' }));
    const ids = [await add('first'), await add('second'), await add('third'), await add('fourth')];
    for (const name of ['first', 'fourth']) expect((await ask('DELETE', `/rest/user/${name}`)).status).toBe(204);
    await stop();
    expect(restoring().code).toBe(0);
    await start();
    await healthy();
    const { body } = await ask('GET', '/rest/user?.proplist=name,.id');
    expect(body).toEqual([
      { '.id': '*1', name: 'admin' },
      { '.id': ids[1], name: 'second' },
      { '.id': ids[2], name: 'third' },
    ]);
    expect(ids).not.toContain(await add('fifth'));
  });

  it('of an earlier generation gives nobody back who may not log in any more', async () => {
    await start();
    await healthy();
    const { revision } = peer;
    const left = { name: 'left', group: 'full', password: 'a password of one who left' };
    expect((await ask('PUT', '/rest/user', left)).status).toBe(201);
    await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', comment: 'later' });
    await stop();
    await start();
    await healthy();
    expect((await ask('DELETE', '/rest/user/left')).status).toBe(204);
    await stop();
    expect(restoring(String(revision)).code).toBe(0);
    await start();
    await healthy();
    expect(await comments()).not.toContain('later');
    expect((await ask('GET', '/rest/user?.proplist=name')).body).toEqual([{ name: 'admin' }]);
  });

  it('asks for the number while the last file is torn at its end, and rows are private', async () => {
    const folder = join(directory, 'generations');
    const names = readdirSync(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const [name = ''] = names.sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10));
    writeFileSync(join(folder, name), `${readFileSync(join(folder, name), 'utf8')}0123456789abcdef {"kind":"chan`);
    rmSync(database());
    const refused = restoring();
    expect(refused.code).toBe(1);
    const number = /^What was kept last is damaged \(.+\.rows\).* --restore (\d+)\n$/.exec(refused.stderr)?.[1];
    expect(restoring('--check')).toEqual(refused);
    // Whoever is told to restore is told the number at once.
    await start();
    const { body } = await ask('GET', '/healthz');
    expect(body).toMatchObject({
      remedy: expect.stringMatching(
        new RegExp(
          `\\(npm start -- --restore ${number}\\): that rebuilds the database from revision ${number}, the last of`,
        ),
      ),
    });
    await stop();
    expect(restoring(number ?? '')).toMatchObject({ code: 0, stdout: expect.stringContaining('users are those of') });
    await start();
    await healthy();
    expect(await comments()).toContain('mine');
  });

  it('asks for the number when the newest file is gone and the database knows of more', async () => {
    await start();
    await healthy();
    const user = { name: 'gone', group: 'full', password: 'staple battery' };
    const id = idOf(await ask('PUT', '/rest/user', user));
    await stop();
    await start();
    await healthy();
    expect((await ask('DELETE', `/rest/user/${id}`)).status).toBe(204);
    expect((await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept' })).status).toBe(201);
    await stop();
    const folder = join(directory, 'generations');
    const newest = readdirSync(folder).sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10))[0] ?? '';
    rmSync(join(folder, newest));
    const refused = restoring();
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/missing .*, and who may log in since/)]);
    expect(existsSync(database())).toBe(true);
    const { code, stdout } = restoring(/--restore (\d+)\n$/.exec(refused.stderr)?.[1] ?? '');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/users are those of the newest/)]);
  });

  it('asks for the number when users were changed while no copies could be kept', async () => {
    for (const end of ['', '-wal', '-shm']) rmSync(database() + end, { force: true });
    writeFileSync(join(directory, 'users.changes'), '99\n');
    const { code, stderr } = restoring();
    expect(code).toBe(1);
    const asked = /users may have been changed since.* go back to revision (\d+) and the users of that time/.exec(
      stderr,
    );
    expect(asked, stderr).not.toBeNull();
    expect(restoring(asked?.[1] ?? '').code).toBe(0);
    await start();
    await healthy();
    expect(readFileSync(join(directory, 'users.changes'), 'utf8')).toBe('100\n');
  });

  it.each(['', '99999999999999999999999999\n', '9007199254740991\n', 'x'])(
    'asks for the number when it is damaged how often users were changed (%j)',
    async (text) => {
      writeFileSync(join(directory, 'users.changes'), text);
      const { code, stderr } = restoring();
      const number = /users may have been changed since.* --restore (\d+)\n$/.exec(stderr)?.[1];
      expect([code, number], stderr).toEqual([1, expect.any(String)]);
      expect(restoring(number ?? '').code).toBe(0);
      await start();
      await healthy();
      const user = { name: `after${text.length}`, group: 'full', password: 'staple battery' };
      expect((await ask('PUT', '/rest/user', user)).status).toBe(201);
      expect(readFileSync(join(directory, 'users.changes'), 'utf8')).toMatch(/^\d{1,9}\n$/);
    },
  );

  it('asks for the number when an older copy of the copies is in their place', async () => {
    await start();
    await healthy();
    const folder = join(directory, 'generations');
    const user = { name: 'gone', group: 'full', password: 'staple battery' };
    const id = idOf(await ask('PUT', '/rest/user', user));
    cpSync(folder, `${folder}.older`, { recursive: true });
    expect((await ask('DELETE', `/rest/user/${id}`)).status).toBe(204);
    await stop();
    rmSync(folder, { recursive: true });
    renameSync(`${folder}.older`, folder);
    for (const end of ['', '-wal', '-shm']) rmSync(database() + end, { force: true });
    const { code, stderr } = restoring();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/users may have been changed since.* --restore \d+\n$/)]);
  });

  it('goes back to the time before the first change as well, when that is what is left', () => {
    const folder = join(directory, 'generations');
    const first = readdirSync(folder).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))[0] ?? '';
    for (const name of readdirSync(folder)) if (name !== first) rmSync(join(folder, name));
    expect(first).toBe('0.rows');
    expect(restoring('0')).toMatchObject({ code: 0, stdout: expect.stringContaining('restored generation 0 ') });
  });

  it.each([
    ['the data folder', () => directory],
    ['the database', database],
  ])('is refused beforehand while %s is immutable', (_, immutable) => {
    const made = () => readdirSync(directory).filter((name) => /restored|aside/.test(name));
    expect(restoring('--check')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(made()).toEqual([]);
    execFileSync('chattr', ['+i', immutable()]);
    try {
      expect(restoring('--check')).toMatchObject({ code: 1, stderr: expect.stringMatching(/nothing was changed/) });
    } finally {
      execFileSync('chattr', ['-i', immutable()]);
    }
    expect(made()).toEqual([]);
  });

  it('says so when there is nothing to restore', () => {
    rmSync(join(directory, 'generations'), { recursive: true });
    const { code, stderr } = restoring();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^There is nothing to restore: \S+ holds no generation\.\n$/);
    expect(existsSync(database())).toBe(true);
  });

  it('is not what to do about a damaged database when there is nothing to restore', async () => {
    rmSync(join(directory, 'generations'), { recursive: true });
    writeFileSync(database(), 'junk');
    await start();
    await refusesWith(/is damaged/, /^Put back the database or the folder generations(?!.*--restore)/);
  });
});

describe('a database that is lost while the router runs', () => {
  beforeEach(async () => {
    await setUp();
    await start();
    await healthy();
  });

  it.each([
    ['deleted', () => rmSync(database()), /is gone/],
    ['emptied', () => writeFileSync(database(), ''), /is empty/],
    ['overwritten', () => writeFileSync(database(), 'x'.repeat(50_000)), /is damaged/],
    ['without its log', () => rmSync(`${database()}-wal`), /has lost the file that its last changes are in/],
  ])('%s: nothing is stored that would be lost, the rest goes on', async (_, harm, problem) => {
    const { revision } = peer;
    harm();
    const { status, body } = await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept' });
    expect(status).toBe(503);
    expect(body).toMatchObject({ error: 503, detail: expect.stringMatching(problem) });
    expect(JSON.stringify(body)).toMatch(/Nothing was changed; forwarding goes on/);
    const user = { name: 'lost', group: 'full', password: 'staple battery' };
    expect(await ask('PUT', '/rest/user', user)).toMatchObject({
      status: 503,
      body: { detail: body && Object(body).detail },
    });
    expect(peer.revision).toBe(revision);
    await expect
      .poll(async () => (await ask('GET', '/healthz')).body, { timeout: 20_000 })
      .toMatchObject({
        status: 'unavailable',
        forwarding: true,
        problem: expect.stringMatching(problem),
        remedy: expect.stringContaining('npm start -- --restore'),
      });
    expect(await comments()).toContain('mine');
    await stop('SIGKILL');
    expect(restoring().code).toBe(0);
    await start();
    await healthy();
    expect(await comments()).toContain('mine');
  });
});

it('a database that is lost in the first run of a router can be restored, and it says so', async () => {
  await start();
  await healthy();
  expect((await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', comment: 'mine' })).status).toBe(
    201,
  );
  rmSync(database());
  await expect
    .poll(async () => Object((await ask('GET', '/healthz')).body).remedy, { timeout: 20_000 })
    .toMatch(/npm start -- --restore/);
  await stop('SIGKILL');
  expect(restoring().code).toBe(0);
  await start();
  await healthy();
  expect(await comments()).toContain('mine');
});

it('a first start that ended before the agent had come is gone on with, and so is one without any port', async () => {
  await peer.stop();
  const more = { TOLLWAY_DEFAULTS: 'ports' };
  await start(more);
  await stop();
  await start(more);
  expect((await ask('GET', `/rest${FILTER}`)).body).toEqual([]);
  await stop();
  const ports = peer.ports.splice(0);
  await peer.start();
  await start(more);
  await healthy();
  await stop('SIGKILL');
  peer.ports.push(...ports);
  await start(more);
  await healthy();
  expect(await comments()).toEqual(expect.arrayContaining([expect.stringMatching(/^defconf: /)]));
});

it('a router that was restored from before its first revision gets the default configuration', async () => {
  await peer.stop();
  const more = { TOLLWAY_DEFAULTS: 'ports' };
  await start(more);
  await stop();
  expect(restoring().code).toBe(0);
  await peer.start();
  await start(more);
  await healthy();
  expect(await comments()).toEqual(expect.arrayContaining([expect.stringMatching(/^defconf: /)]));
});

it('a database of another router that is put in its place while the router runs is not touched', async () => {
  await setUp();
  const other = await databaseOfAnother();
  await start();
  await healthy();
  const before = readFileSync(other);
  renameSync(other, database());
  for (const [method, path, body] of [
    ['PUT', '/rest/user', { name: 'lost', group: 'full', password: 'staple battery' }],
    [
      'POST',
      '/rest/password',
      { 'old-password': PASSWORD, 'new-password': 'staple battery', 'confirm-new-password': 'staple battery' },
    ],
    ['PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept' }],
  ] as const) {
    expect([path, (await ask(method, path, body)).status]).toEqual([path, 503]);
  }
  expect((await ask('GET', '/rest/user?.proplist=name')).body).toEqual([{ name: 'admin' }]);
  await stop('SIGKILL');
  expect(readFileSync(database()).equals(before)).toBe(true);
  await start();
  await refusesWith(/is not that of this router/, /--restore/);
});

it('a database that others read while the router runs loses nothing', async () => {
  await setUp();
  await start();
  await healthy();
  // The database has been looked at meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const script = `
    const { createClient } = await import('@libsql/client');
    const client = createClient({ url: ${JSON.stringify(`file:${database()}`)} });
    await client.execute('SELECT count(*) FROM "ConfigRow"');
    client.close();`;
  const { status, stderr } = spawnNow(['--input-type=module', '--eval', script]);
  expect(status, stderr).toBe(0);
  const later = { chain: 'forward', action: 'accept', comment: 'later' };
  expect((await ask('PUT', `/rest${FILTER}`, later)).status).toBe(201);
  await stop('SIGKILL');
  await start();
  await healthy();
  expect(await comments()).toContain('later');
});

it('words of a request are not taken for errors of the database', async () => {
  await setUp();
  await start();
  await healthy();
  for (const [status, headers] of [
    [421, { host: 'EIO' }],
    [403, { origin: 'http://database is locked' }],
  ] as const) {
    expect((await rawRequest(`${url}/healthz`, 'GET', headers)).status).toBe(status);
    expect((await ask('GET', '/healthz')).status).toBe(200);
  }
  const wrong = await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', 'disk is full': 'ENOSPC' });
  expect(wrong.status).toBe(400);
  expect((await ask('GET', '/healthz')).status).toBe(200);
  expect(output).not.toMatch(/The database/);
});
