import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Background, mustRun, runCommand } from './netns.ts';
import { dispose, newDataDir, newRouter, PASSWORD, projectRoot, type Router, runs, SERVER } from './router.ts';
import { eventually } from './wait.ts';

/** Tests of what `npm start` makes, says and takes away again. */

const started: Router[] = [];
afterEach(async () => {
  for (const router of started.splice(0)) await dispose(router);
});

const start = (...options: string[]) => startIn(newDataDir(), ...options);
async function startIn(dataDir: string, ...options: string[]): Promise<Router> {
  const router = newRouter({ options, dataDir });
  started.push(router);
  return router.up();
}

const namespaces = () => (existsSync('/run/netns') ? readdirSync('/run/netns') : []);
/** Namespaces of a router that are still there. */
const remaining = (names: readonly string[]) => namespaces().filter((name) => names.includes(name));
const script = (name: string, ...args: string[]) =>
  runCommand([process.execPath, path.join(projectRoot, 'scripts', name), ...args]);

test.each([
  [['--nonsense'], /--nonsense/],
  [['--listen', '127.0.0.1:70000'], /--listen.*1–65535/],
  [['--listen', 'nowhere'], /--listen.*address:port/],
  [['--ports', ''], /--ports/],
  [['--ports', 'lo,lo'], /lo twice/],
  [['--ports', 'does-not-exist'], /there is no interface|is none/],
  [['--take-over'], /--ports/],
  [['--memory', '--ports', 'eth1'], /--memory/],
  [['--data-dir'], /--data-dir needs a value/],
  [['--memory', '--data-dir', '/proc/x'], /--data-dir \/proc\/x cannot be used/],
  [['--memory', '--data-dir', '/dev/null'], /--data-dir \/dev\/null cannot be used/],
  [['--no-lab=yes'], /--no-lab takes no value/],
])('wrong options %j: a clear message and exit code 2', (options, message) => {
  const ran = script('start.mjs', ...options);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(message);
  expect(ran.stderr).not.toMatch(/\n {4}at /);
});

test('Ctrl-C takes everything away, exit code 0', async () => {
  const router = await start();
  const made = router.namespaces();
  expect(remaining(made).length).toBe(6);
  const pids = [router.pid('agent'), router.pid('api')];
  expect(await router.stop()).toBe(0);
  expect(remaining(made)).toEqual([]);
  for (const pid of pids) expect(runs(pid)).toBe(false);
  expect(existsSync(path.join(router.dataDir, 'run/agent.pid'))).toBe(false);
});

test('the first password is in the environment of no child, and the data folder is closed to others', async () => {
  const router = await start();
  router.host('lan').ping(SERVER, 2);
  for (const { name, pid } of router.processes()) {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    expect(environment, name).not.toContain(PASSWORD);
    expect(environment, name).not.toContain('TOLLWAY_ADMIN_PASSWORD=');
  }
  expect(router.processes().map(({ name }) => name)).toEqual(expect.arrayContaining(['agent', 'api']));
  const all = readdirSync(router.dataDir, { recursive: true, encoding: 'utf8' });
  expect(all.length).toBeGreaterThan(5);
  for (const name of ['', ...all]) {
    const { mode } = lstatSync(path.join(router.dataDir, name));
    expect(`${name} ${(mode & 0o077).toString(8)}`).toBe(`${name} 0`);
  }
});

test('after kill -9 of npm start the router goes on, whatever other one is started, until its own folder is started', async () => {
  const killed = await start();
  const made = killed.namespaces();
  const pids = [killed.pid('agent'), killed.pid('api')];
  killed.process.child.kill('SIGKILL');
  await killed.process.ended();
  const other = await start();
  expect(other.process.stdout).toContain(`the router of ${killed.dataDir} forwards`);
  const refused = (...options: string[]) => script('start.mjs', '--data-dir', killed.dataDir, ...options);
  expect(refused('--listen', other.listen)).toMatchObject({ code: 1, stderr: expect.stringMatching(/cannot listen/) });
  expect(refused('--listen', killed.listen, '--restore', '999')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no generation 999/),
  });
  const folder = path.join(killed.dataDir, 'generations');
  const [newest = ''] = readdirSync(folder).sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10));
  const kept = readFileSync(path.join(folder, newest));
  writeFileSync(path.join(folder, newest), `${kept}0123456789abcdef {"kind":"chan`);
  expect(refused('--listen', killed.listen, '--restore')).toMatchObject({
    code: 1,
    stdout: expect.not.stringContaining('removing'),
    stderr: expect.stringMatching(/kept last is damaged .* --restore \d+\n$/),
  });
  writeFileSync(path.join(folder, newest), kept);
  mustRun('chattr', '+i', killed.dataDir);
  const immutable = refused('--listen', killed.listen, '--restore');
  mustRun('chattr', '-i', killed.dataDir);
  expect(immutable).toMatchObject({
    code: 1,
    stdout: expect.not.stringContaining('removing'),
    stderr: expect.stringMatching(/could not be rebuilt, and nothing was changed/),
  });
  const taken = script('start.mjs', '--memory', '--data-dir', newDataDir(), '--listen', killed.listen);
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining(killed.dataDir) });
  for (const pid of pids) expect(runs(pid)).toBe(true);
  expect(killed.host('lan').ping(SERVER, 2)).toBe(2);
  const next = await startIn(killed.dataDir);
  for (const pid of pids) expect(runs(pid)).toBe(false);
  expect(next.host('lan').ping(SERVER, 2)).toBe(2);
  made.push(...next.namespaces(), ...other.namespaces());
  await next.stop();
  await other.stop();
  expect(remaining(made)).toEqual([]);
});

test('after kill -9 of npm start and of its API the router goes on while something else listens in its place', async () => {
  const killed = await start();
  const agent = killed.pid('agent');
  for (const pid of [killed.process.child.pid ?? 0, killed.pid('api')]) process.kill(pid, 'SIGKILL');
  await killed.process.ended();
  const [host = '', port] = killed.listen.split(':');
  const elsewhere = createServer();
  await eventually(
    () =>
      new Promise((resolve) => {
        elsewhere.once('error', () => resolve(false));
        elsewhere.listen(Number(port), host, () => resolve(true));
      }),
  );
  try {
    const refused = script('start.mjs', '--data-dir', killed.dataDir, '--listen', killed.listen);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/something else listens there/) });
    expect(runs(agent)).toBe(true);
    expect(killed.host('lan').ping(SERVER, 2)).toBe(2);
  } finally {
    elsewhere.close();
  }
  const next = await startIn(killed.dataDir);
  expect(runs(agent)).toBe(false);
  expect(next.host('lan').ping(SERVER, 2)).toBe(2);
});

test('after kill -9 of npm start and of its agent any start takes the rest away', async () => {
  const killed = await start();
  const made = killed.namespaces();
  const api = killed.pid('api');
  const agent = killed.pid('agent');
  killed.process.child.kill('SIGKILL');
  await killed.process.ended();
  process.kill(agent, 'SIGKILL');
  await eventually(() => !runs(agent));
  const next = await start();
  expect(runs(api)).toBe(false);
  expect(next.host('lan').ping(SERVER, 2)).toBe(2);
  made.push(...next.namespaces());
  await next.stop();
  expect(remaining(made)).toEqual([]);
});

test('after kill -9 of everything the same data folder starts again with its configuration', async () => {
  const killed = await start();
  const made = killed.namespaces();
  await killed.rest.command('/system/identity/set', { name: 'survivor' });
  await killed.crash();
  const next = await startIn(killed.dataDir);
  expect((await next.rest.get('/system/identity')).name).toBe('survivor');
  expect(next.host('lan').ping(SERVER, 2)).toBe(2);
  made.push(...next.namespaces());
  await next.stop();
  expect(remaining(made)).toEqual([]);
});

test('two routers run beside each other; a second one on the same data folder is refused', async () => {
  const one = await start();
  const two = await start();
  expect(one.host('lan').ping(SERVER, 2)).toBe(2);
  expect(two.host('lan').ping(SERVER, 2)).toBe(2);
  const link = path.join(newDataDir(), 'link');
  symlinkSync(one.dataDir, link);
  for (const dataDir of [one.dataDir, link]) {
    const refused = await newRouter({ dataDir }).launch().ended();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('already runs');
  }
  await two.stop();
  expect(one.host('lan').ping(SERVER, 2)).toBe(2);
});

test('a listen address that is taken is refused with its name', async () => {
  const one = await start();
  const other = new Background([
    process.execPath,
    path.join(projectRoot, 'scripts/start.mjs'),
    '--data-dir',
    newDataDir(),
    '--listen',
    one.listen,
  ]);
  const ended = await other.ended();
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(one.listen);
});

test('npm run lab lists the hosts and runs commands with their exit code', async () => {
  const router = await start();
  const lab = (...args: string[]) => script('lab.mjs', '--data-dir', router.dataDir, ...args);
  const list = lab();
  expect(list.code).toBe(0);
  for (const words of [
    /lan +ether2 +192\.168\.88\.10/,
    /lan2 +ether3 +192\.168\.89\.10/,
    /wan +ether1 +203\.0\.113\.1/,
  ]) {
    expect(list.stdout).toMatch(words);
  }
  expect(list.stdout).toMatch(/server +- +198\.51\.100\.10/);
  expect(lab('exec', 'lan', '--', 'ping', '-c1', SERVER).code).toBe(0);
  expect(lab('exec', 'lan', '--', 'sh', '-c', 'exit 7').code).toBe(7);
  expect(lab('exec', 'router', '--', 'ip', '-brief', 'address').stdout).toContain('192.168.88.1');
  expect(lab('exec', 'nobody', '--', 'true')).toMatchObject({ code: 2, stderr: expect.stringContaining('nobody') });
  expect(lab('dance').code).toBe(2);
  await router.stop();
  const gone = lab();
  expect(gone.code).toBe(1);
  expect(gone.stderr).toMatch(/no Tollway runs/);
});

test('without root it says so; --memory runs without root, with traffic', async () => {
  const dataDir = newDataDir();
  rmSync(dataDir, { recursive: true });
  const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const refused = runCommand([...asNobody, process.execPath, path.join(projectRoot, 'scripts/start.mjs')]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('npm start -- --memory');

  const memory = newRouter({ options: ['--memory'], dataDir, as: asNobody });
  started.push(memory);
  await memory.up();
  const received = async () => {
    const rows = await memory.rest.list('/interface');
    return rows.reduce((sum, row) => sum + Number(row['rx-packet'] ?? 0), 0);
  };
  const first = await received();
  await eventually(async () => (await received()) > first);
  // Its hosts reach the servers of the generator by the default configuration.
  const translated = () => memory.rest.list('/ip/firewall/connection?srcnat=yes&protocol=tcp');
  await eventually(async () => (await translated()).some((row) => Number(row['repl-bytes']) > 1_000), 60_000);
});
