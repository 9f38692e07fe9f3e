import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { eventually, sleep } from './wait.ts';

/** Forwarding goes on through the death of either process. */

const SERVER6 = '2001:db8:198::10';

let router: Router;

beforeAll(async () => {
  router = await newRouter().up();
});
afterAll(() => dispose(router));

test('kill -9 of the API during a ping loses nothing, and it comes back', async () => {
  const api = router.pid('api');
  const ping = router.host('lan').start('ping', '-n', '-i', '0.05', '-c', '100', SERVER);
  await sleep(1000);
  process.kill(api, 'SIGKILL');
  const killed = Date.now();
  await eventually(async () => (await router.healthy()) && router.pid('api') !== api);
  // Restarted within a second, and up two seconds later; ten times that here.
  expect(Date.now() - killed).toBeLessThan(30_000);
  const { stdout } = await ping.ended();
  expect(stdout).toContain('100 packets transmitted, 100 received');
});

test('kill -9 of the agent: forwarding again within 2 s from its own copy, a connection through masquerade survives', async () => {
  const agent = router.pid('agent');
  const lan = router.host('lan');
  const iperf = lan.start('iperf3', '-c', SERVER, '-t', '12', '-J');
  const ping = lan.start('ping', '-n', '-D', '-i', '0.1', '-c', '120', SERVER);
  await sleep(3000);
  process.kill(agent, 'SIGKILL');
  const { stdout } = await ping.ended();
  const times = [...stdout.matchAll(/^\[([\d.]+)\].*bytes from/gm)].map((match) => Number(match[1]));
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  // At most 2 s; five times that here.
  expect(Math.max(...gaps), stdout).toBeLessThan(10);
  expect(times.length).toBeGreaterThan(30);
  expect(router.pid('agent')).not.toBe(agent);
  const result = await iperf.ended();
  expect(result.code, result.stdout + result.stderr).toBe(0);
  await eventually(() => router.healthy());
});

test('kill -9 of the agent: a connection of IPv6 through masquerade survives', async () => {
  const agent = router.pid('agent');
  const lan = router.host('lan');
  await eventually(() => lan.run('ping', '-6', '-n', '-c', '1', '-W', '1', SERVER6).stdout.includes(' 1 received'));
  // A port at random: a connection that is not known again would get another one, and its peer would reset it.
  const masquerade = await router.rest.add('/ipv6/firewall/nat', {
    chain: 'srcnat',
    protocol: 'tcp',
    'out-interface': 'ether1',
    action: 'masquerade',
    'to-ports': '20000-60000',
    'randomise-ports': 'true',
  });
  const iperf = lan.start('iperf3', '-6', '-c', SERVER6, '-t', '10', '-J');
  await sleep(3000);
  process.kill(agent, 'SIGKILL');
  const result = await iperf.ended();
  expect(result.code, result.stdout + result.stderr).toBe(0);
  expect(router.pid('agent')).not.toBe(agent);
  await eventually(() => router.healthy());
  await router.rest.remove('/ipv6/firewall/nat', masquerade);
});

test('without the API the agent starts from its configuration on disk', async () => {
  const lan = router.host('lan');
  const drop = await router.rest.add('/ip/firewall/filter', {
    chain: 'forward',
    protocol: 'udp',
    'dst-port': '6666',
    action: 'drop',
  });
  // Both die; whichever is first, the agent's rules must be those that were in force.
  process.kill(router.pid('api'), 'SIGKILL');
  process.kill(router.pid('agent'), 'SIGKILL');
  await eventually(() => lan.ping(SERVER, 1) === 1);
  await eventually(() => router.healthy());
  expect((await router.rest.get('/ip/firewall/filter', drop))['dst-port']).toBe('6666');
  await router.rest.remove('/ip/firewall/filter', drop);
});

test('without the data folder nothing is begun anew: both processes are back when the folder is', async () => {
  const lan = router.host('lan');
  const drop = await router.rest.add('/ip/firewall/filter', { chain: 'forward', protocol: 'icmp', action: 'drop' });
  const [agent, api] = [router.pid('agent'), router.pid('api')];
  renameSync(router.dataDir, `${router.dataDir}.away`);
  process.kill(agent, 'SIGKILL');
  process.kill(api, 'SIGKILL');
  await eventually(() => router.process.stdout.includes(`the data folder ${router.dataDir} is gone, put it back`));
  await sleep(1000);
  expect(existsSync(router.dataDir)).toBe(false);
  renameSync(`${router.dataDir}.away`, router.dataDir);
  await eventually(() => router.healthy().catch(() => false), 90_000);
  expect(lan.ping(SERVER, 1)).toBe(0);
  await router.rest.remove('/ip/firewall/filter', drop);
  await eventually(() => lan.ping(SERVER, 1) === 1);
});

test('an agent that stands still is reported by the terminal, as is that it goes on', async () => {
  const agent = router.pid('agent');
  process.kill(agent, 'SIGSTOP');
  try {
    await eventually(() => /^• The data plane does not answer/m.test(router.process.stderr), 180_000);
  } finally {
    process.kill(agent, 'SIGCONT');
  }
  await eventually(() => router.healthy(), 90_000);
  await eventually(() => /^• management works again/m.test(router.process.stderr), 90_000);
});

test('something else in the place of run/ keeps neither process from being started again', async () => {
  const lan = router.host('lan');
  const [agent, api] = [router.pid('agent'), router.pid('api')];
  const run = path.join(router.dataDir, 'run');
  renameSync(run, `${run}.away`);
  writeFileSync(run, '');
  try {
    process.kill(agent, 'SIGKILL');
    await eventually(() => lan.ping(SERVER, 1) === 1);
    process.kill(api, 'SIGKILL');
    await eventually(
      async () =>
        !(await router.rest.request('GET', '/healthz').then(
          () => true,
          () => false,
        )),
    );
    await eventually(() => router.healthy().catch(() => false), 90_000);
    expect(router.process.exited).toBe(false);
  } finally {
    rmSync(run);
    renameSync(`${run}.away`, run);
  }
});
