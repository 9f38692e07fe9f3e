import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { runCommand } from './netns.ts';
import { dispose, newDataDir, newRouter, type Router, SERVER } from './router.ts';
import { eventually } from './wait.ts';

/** Forwarding outlives the database and the disk: the agent goes on by its last configuration, and it is said why. */

const routers: Router[] = [];
const mounted: string[] = [];
afterEach(async () => {
  for (const router of routers.splice(0)) await dispose(router).catch(() => undefined);
  for (const folder of mounted.splice(0)) {
    runCommand(['umount', folder]);
    rmSync(folder, { recursive: true, force: true });
  }
});

async function started(dataDir: string): Promise<Router> {
  const router = newRouter({ dataDir });
  routers.push(router);
  return router.up();
}

/** `npm start` once more with this data folder, until it says something about `problem`. */
async function startedWith(
  problem: RegExp,
  dataDir: string,
  meanwhile = 'The router forwards by its last configuration',
): Promise<Router> {
  const router = newRouter({ dataDir });
  routers.push(router);
  const child = router.launch();
  await eventually(() => problem.test(child.stderr) || child.exited, 180_000);
  expect(child.exited, child.stdout + child.stderr).toBe(false);
  expect(child.stderr).toMatch(problem);
  expect(child.stderr).toContain(meanwhile);
  expect(child.stderr).not.toMatch(/\n\s+at /);
  return router;
}

async function problemOf(router: Router): Promise<string> {
  const response = await fetch(`${router.url}/healthz`).catch(() => undefined);
  if (response?.status !== 503) return '';
  const body = Object(await response.json());
  return `${body.problem ?? ''} ${body.remedy ?? ''}`;
}

const restoring = { chain: 'forward', action: 'drop', protocol: 'udp', 'dst-port': '6666', comment: 'kept' };
const comments = async (router: Router) => (await router.rest.list('/ip/firewall/filter')).map((row) => row.comment);

test('a damaged database: no packet is lost, the terminal and the API say what to do, and --restore does it', async () => {
  const dataDir = newDataDir();
  const router = await started(dataDir);
  await router.rest.add('/ip/firewall/filter', restoring);
  const ping = router.host('lan').start('ping', '-n', '-i', '0.05', '-c', '100', SERVER);
  const api = router.pid('api');
  for (const end of ['-wal', '-shm']) rmSync(path.join(dataDir, `tollway.db${end}`), { force: true });
  writeFileSync(path.join(dataDir, 'tollway.db'), 'x'.repeat(100_000));
  process.kill(api, 'SIGKILL');
  await eventually(async () => /is damaged.*--restore/.test(await problemOf(router)), 90_000);
  expect((await ping.ended()).stdout).toContain('100 packets transmitted, 100 received');
  await eventually(() => /is damaged/.test(router.process.stderr));
  process.kill(router.pid('agent'), 'SIGKILL');
  await eventually(() => router.host('lan').ping(SERVER, 1) === 1);
  await router.stop();

  const again = await startedWith(/is damaged.*npm start -- --restore/, dataDir);
  await eventually(() => again.host('lan').ping(SERVER, 1) === 1);
  await again.stop();

  const restored = newRouter({ dataDir, options: ['--restore'] });
  routers.push(restored);
  await restored.up();
  expect(restored.process.stdout).toMatch(/restored generation \d+ .* is kept as /);
  expect(await comments(restored)).toContain('kept');
  await eventually(() => restored.healthy());
  expect(restored.host('lan').ping(SERVER, 2)).toBe(2);
});

test('a damaged database in a folder that no router has used: nothing is forwarded, and the terminal says that', async () => {
  const dataDir = newDataDir();
  writeFileSync(path.join(dataDir, 'tollway.db'), 'x'.repeat(100_000));
  const router = await startedWith(/is damaged/, dataDir, 'Nothing is forwarded now');
  expect(router.host('lan').ping(SERVER, 1)).toBe(0);
  await router.stop();
});

test('a full disk: nothing is half stored, either process starts anew and forwards, and space mends it', async () => {
  const dataDir = newDataDir();
  expect(runCommand(['mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', dataDir]).code).toBe(0);
  mounted.push(dataDir);
  const router = await started(dataDir);
  await router.rest.add('/ip/firewall/filter', restoring);
  const filler = path.join(dataDir, 'filler');
  runCommand(['dd', 'if=/dev/zero', `of=${filler}`, 'bs=4k']);

  const refused = await router.rest.request('PUT', '/rest/ip/firewall/filter', {
    ...restoring,
    comment: 'x'.repeat(200),
  });
  expect([400, 503]).toContain(refused.status);
  expect(JSON.stringify(refused.body)).toMatch(/full|No space left/);
  expect(await comments(router)).not.toContain('x'.repeat(200));
  expect(router.host('lan').ping(SERVER, 2)).toBe(2);
  await eventually(async () => /the disk is full\. Free some space/.test(await problemOf(router)), 90_000);

  process.kill(router.pid('agent'), 'SIGKILL');
  await eventually(() => router.host('lan').ping(SERVER, 1) === 1, 90_000);
  await router.stop();

  // A restore ends, and does not say that anything goes on by itself.
  const restored = newRouter({ dataDir, options: ['--restore'] });
  routers.push(restored);
  const refusal = restored.launch();
  await eventually(() => refusal.exited, 180_000);
  expect(refusal.stderr).toMatch(
    /full\. Free some space, then give the same command again\. Started without --restore/,
  );

  const again = newRouter({ dataDir });
  routers.push(again);
  const child = again.launch();
  await eventually(() => /disk is full|Tollway is up/.test(child.stderr + child.stdout) || child.exited, 180_000);
  expect(child.exited, child.stdout + child.stderr).toBe(false);
  expect(child.stderr).not.toMatch(/\n\s+at /);
  await eventually(pingFromLan, 90_000);

  rmSync(filler);
  await eventually(() => again.healthy(), 180_000);
  expect(await comments(again)).toContain('kept');
  await again.rest.add('/ip/firewall/filter', { ...restoring, comment: 'after' });
});

test('a data folder that can only be read: it forwards by its last configuration and says so; when it can be written it stores', async () => {
  const dataDir = newDataDir();
  expect(runCommand(['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', dataDir]).code).toBe(0);
  mounted.push(dataDir);
  const remount = (access: 'ro' | 'rw') =>
    expect(runCommand(['mount', '-o', `remount,${access}`, dataDir]).code).toBe(0);
  const router = await started(dataDir);
  await router.rest.add('/ip/firewall/filter', restoring);
  await router.stop();
  remount('ro');

  const again = newRouter({ dataDir });
  routers.push(again);
  const child = again.launch();
  await eventually(() => /read-only/.test(child.stderr) || child.exited, 180_000);
  expect(child.exited, child.stdout + child.stderr).toBe(false);
  expect(child.stderr).not.toMatch(/\n\s+at /);
  await eventually(pingFromLan, 90_000);
  await eventually(async () => /read-only/.test(await problemOf(again)), 90_000);

  remount('rw');
  await eventually(() => again.healthy(), 180_000);
  expect(await comments(again)).toContain('kept');
  await again.rest.add('/ip/firewall/filter', { ...restoring, comment: 'after' });
});

test('a data folder that becomes read-only: agent and API that are killed come back, and store when they can', async () => {
  const dataDir = newDataDir();
  const router = await started(dataDir);
  await router.rest.add('/ip/firewall/filter', restoring);
  const mount = (...words: string[]) => expect(runCommand(['mount', ...words]).code).toBe(0);
  mount('--bind', dataDir, dataDir);
  mounted.push(dataDir);
  mount('-o', 'remount,ro,bind', dataDir);
  const before = { agent: router.pid('agent'), api: router.pid('api') };

  process.kill(before.agent, 'SIGKILL');
  await eventually(() => router.host('lan').ping(SERVER, 1) === 1, 90_000);
  process.kill(before.api, 'SIGKILL');
  await eventually(async () => /read-only/.test(await problemOf(router)), 90_000);
  expect(router.process.stderr).not.toMatch(/exit code/);

  expect(runCommand(['umount', dataDir]).code).toBe(0);
  await eventually(() => router.healthy(), 180_000);
  expect(await comments(router)).toContain('kept');
  await router.rest.add('/ip/firewall/filter', { ...restoring, comment: 'after' });
});

/** A ping where `npm start` could not write down which hosts it has. */
function pingFromLan(): boolean {
  return runCommand(['ip', 'netns', 'exec', lanOf(), 'ping', '-n', '-c', '1', '-W', '1', SERVER]).code === 0;
}

/** The newest namespace of a lab's host lan. */
function lanOf(): string {
  const names = runCommand(['ip', 'netns', 'list'])
    .stdout.split('\n')
    .map((line) => line.split(' ')[0] ?? '');
  const found = names.find((name) => /(^|-)lan$/.test(name));
  if (found === undefined) throw new Error(`no host lan among ${names.join(', ')}`);
  return found;
}
