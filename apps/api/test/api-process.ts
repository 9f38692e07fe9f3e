import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { AgentPeer } from './agent-peer.js';
import { PASSWORD } from './router.js';

/** The API as a process, with databases that may be bad ones. `npm run build` has to have been run. */

const dist = (name: string) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));
export const FILTER = '/ip/firewall/filter';

export let directory: string;
export let peer: AgentPeer;
let api: ChildProcess | undefined;
export let output = '';
export let url = '';
export const database = () => join(directory, 'tollway.db');

/** A folder and an agent for each test of a file. */
export function eachWithItsFolder(): void {
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
}

const environment = () => ({
  ...process.env,
  TOLLWAY_DATA_DIR: directory,
  TOLLWAY_AGENT_SOCKET: join(directory, 'agent.sock'),
  TOLLWAY_LISTEN: '127.0.0.1:0',
  TOLLWAY_DEFAULTS: 'lab',
  TOLLWAY_ADMIN_PASSWORD: PASSWORD,
});

/** Runs a program in a mount namespace in which the data folder is read-only. */
export const readOnly = (): readonly string[] => [
  'unshare',
  '-m',
  'sh',
  '-c',
  'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"',
  directory,
];

export async function start(more: Record<string, string> = {}, within: readonly string[] = []): Promise<void> {
  output = '';
  const [program = '', ...args] = [...within, process.execPath, dist('server.js')];
  const child = spawn(program, args, { env: { ...environment(), ...more } });
  api = child;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  await expect.poll(() => /listening on (\S+)/.exec(output)?.[1], { timeout: 180_000 }).toBeDefined();
  url = /.*listening on (\S+)/s.exec(output)?.[1] ?? '';
}

/** Waits until it has found the database well and begun anew, by itself. */
export async function listensAgain(): Promise<void> {
  await expect.poll(() => output.match(/listening on/g)?.length, { timeout: 90_000 }).toBe(2);
  url = /.*listening on (\S+)/s.exec(output)?.[1] ?? '';
  await healthy();
}

export async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
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

export async function ask(method: string, path: string, body?: unknown): Promise<Reply> {
  const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
  const response = await fetch(url + path, {
    method,
    headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
}
export const healthy = () =>
  expect.poll(async () => (await ask('GET', '/healthz')).status, { timeout: 90_000 }).toBe(200);
export const comments = async () => {
  const { body } = await ask('GET', `/rest${FILTER}?.proplist=comment`);
  return Array.isArray(body) ? body.map((row: { comment?: string }) => row.comment) : body;
};

/** State after the first {@link setUp} of a file: a copy of the folder, and the configuration of the agent. */
let seed: { readonly folder: string; readonly revision: number; readonly active: AgentPeer['active'] } | undefined;
afterAll(() => {
  if (seed !== undefined) rmSync(seed.folder, { recursive: true, force: true });
});

/** A router that has been set up, with one rule of its own, and has ended. The tests of a file begin with copies of one. */
export async function setUp(): Promise<void> {
  if (seed !== undefined) {
    cpSync(seed.folder, directory, { recursive: true, preserveTimestamps: true });
    peer.revision = seed.revision;
    peer.active = seed.active;
    return;
  }
  await start();
  await healthy();
  const rule = { chain: 'forward', action: 'drop', protocol: 'udp', comment: 'mine' };
  expect((await ask('PUT', `/rest${FILTER}`, rule)).status).toBe(201);
  await stop();
  const folder = mkdtempSync(join(tmpdir(), 'tollway-seed-'));
  const isData = (path: string) => !path.endsWith('.sock');
  cpSync(directory, folder, { recursive: true, preserveTimestamps: true, filter: isData });
  seed = { folder, revision: peer.revision, active: peer.active };
}

export function restoring(...generation: string[]): { code: number | null; stdout: string; stderr: string } {
  const child = spawnNow([dist('restore.js'), ...generation]);
  return { code: child.status, stdout: child.stdout, stderr: child.stderr };
}
export const spawnNow = (args: readonly string[]) =>
  spawnSync(process.execPath, args, { env: environment(), encoding: 'utf8' });

/** Common behaviour in all faults: said clearly everywhere, nothing set up anew, nothing pushed over the agent. */
export async function refusesWith(problem: RegExp, remedy: RegExp): Promise<void> {
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
    .poll(async () => (await ask('GET', '/healthz')).body, { timeout: 30_000 })
    .toMatchObject({ forwarding: true, revision });
  expect([peer.prepares, peer.revision]).toEqual([prepares, revision]);
  expect(peer.active).toBe(active);
}

/** The database of another router, which has been changed more often; it is left in its one file. */
export async function databaseOfAnother(): Promise<string> {
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
 * Moves all of the database into its one file. By a process of its own: a connection of this one that is closed late would write
 * what came since into the file that has been put in its place.
 */
export function checkpoint(): void {
  const script = `
    const { PrismaLibSql } = require(${JSON.stringify(createRequire(import.meta.url).resolve('@prisma/adapter-libsql'))});
    const driver = new PrismaLibSql({ url: ${JSON.stringify(`file:${database()}`)} });
    driver.connect().then(async (connection) => {
      await connection.executeScript('PRAGMA wal_checkpoint(TRUNCATE)');
      await connection.dispose();
    });`;
  const { status, stderr } = spawnNow(['--eval', script]);
  expect(status, stderr).toBe(0);
}
