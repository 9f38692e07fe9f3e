import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Background } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually, sleep } from './wait.ts';

/** The router as a host: what it answers itself, and the services in its namespace. */

const ROUTER = '192.168.88.1';
let router: Router;

beforeAll(async () => {
  router = await newRouter().up();
});
afterAll(() => dispose(router));

/** Packets that lan sees from now on, by tcpdump. */
async function watch(...filter: string[]): Promise<Background> {
  const dump = router.host('lan').start('tcpdump', '-n', '-l', '-i', 'eth0', ...filter);
  await eventually(() => dump.stderr.includes('listening on'));
  return dump;
}

test('exactly one ARP reply to a request', async () => {
  const lan = router.host('lan');
  const dump = await watch('arp');
  lan.must('ip', 'neigh', 'flush', 'dev', 'eth0');
  expect(lan.ping(ROUTER, 3)).toBe(3);
  await sleep(1000);
  await dump.end();
  const requests = dump.stdout.match(/Request who-has 192\.168\.88\.1 tell 192\.168\.88\.\d+/g) ?? [];
  const replies = dump.stdout.match(/Reply 192\.168\.88\.1 is-at/g) ?? [];
  expect(requests.length, dump.stdout).toBeGreaterThan(0);
  expect(replies.length, dump.stdout).toBe(requests.length);
});

test('exactly one answer to a ping and to a SYN for a closed port, and none for an address that is not the router', async () => {
  const lan = router.host('lan');
  const dump = await watch('icmp or (tcp and port 4999) or arp');
  expect(lan.ping(ROUTER, 4)).toBe(4);
  expect(lan.run('curl', '-s', '-m', '5', `http://${ROUTER}:4999/`).code).toBe(7);
  lan.run('ping', '-n', '-c', '1', '-W', '1', '192.168.88.77');
  await sleep(1000);
  await dump.end();
  expect(dump.stdout.match(/ICMP echo reply/g)?.length, dump.stdout).toBe(4);
  const syns = dump.stdout.match(/> 192\.168\.88\.1\.4999: Flags \[S\]/g) ?? [];
  expect(dump.stdout.match(/192\.168\.88\.1\.4999 > .*Flags \[R/g)?.length, dump.stdout).toBe(syns.length);
  expect(dump.stdout).not.toMatch(/Reply 192\.168\.88\.77/);
});

test('a TCP service in the router namespace is reached from lan, and `input` governs it', async () => {
  const lan = router.host('lan');
  const service = router.host('router').script(`
    import { createServer } from 'node:http';
    createServer((request, response) => response.end('served ' + request.socket.localAddress)).listen(8081, '0.0.0.0', () => console.log('ready'));`);
  await eventually(() => service.stdout.includes('ready'));
  const curl = (seconds: string) => lan.run('curl', '-s', '-m', seconds, `http://${ROUTER}:8081/`);
  try {
    expect(curl('10')).toMatchObject({ code: 0, stdout: `served ${ROUTER}` });
    const rules = await router.rest.list('/ip/firewall/filter');
    const first = rules.find((row) => row.dynamic !== 'true')?.['.id'] ?? '';
    const drop = await router.rest.add('/ip/firewall/filter', {
      chain: 'input',
      protocol: 'tcp',
      'dst-port': '8081',
      'in-interface': 'ether2',
      action: 'drop',
      'place-before': first,
    });
    // 28: the time was up without an answer.
    expect(curl('2').code).toBe(28);
    expect(Number((await router.rest.get('/ip/firewall/filter', drop)).packets)).toBeGreaterThan(0);
    await router.rest.remove('/ip/firewall/filter', drop);
    expect(curl('10').code).toBe(0);
  } finally {
    await service.end('SIGTERM');
  }
});

test('the default rules keep wan out of the router and let it ping', async () => {
  const service = router.host('router').script(`
    import { createServer } from 'node:net';
    createServer((socket) => socket.end()).listen(8082, '0.0.0.0', () => console.log('ready'));`);
  await eventually(() => service.stdout.includes('ready'));
  const wan = router.host('wan');
  expect(wan.ping('203.0.113.2', 3)).toBe(3);
  expect(wan.run('curl', '-s', '-m', '2', 'http://203.0.113.2:8082/').code).toBe(28);
  await service.end('SIGTERM');
});

test('a program in the router namespace reaches the outside', async () => {
  const inRouter = router.host('router');
  expect(inRouter.ping('198.51.100.10', 3)).toBe(3);
  expect(inRouter.run('curl', '-s', '-m', '10', '-o', '/dev/null', 'http://198.51.100.10/').code).toBe(0);
});

test('a second route to a network takes nothing from the programs in its namespace, nor does its end', async () => {
  const services = router.host('router');
  const routes = () => services.must('ip', 'route', 'show', 'default');
  const before = routes();
  // The router does not use the first, and divides flows between the second and its own.
  const second: [more: Record<string, string>, active: string][] = [
    [{ blackhole: 'true' }, 'false'],
    [{ gateway: '203.0.113.77' }, 'true'],
  ];
  for (const [more, active] of second) {
    const id = await router.rest.add('/ip/route', { 'dst-address': '0.0.0.0/0', distance: '1', ...more });
    const [shown, beside] = [(await router.rest.get('/ip/route', id)).active, routes()];
    await router.rest.remove('/ip/route', id);
    expect([shown, beside, routes()]).toEqual([active, before, before]);
  }
  expect(services.ping('198.51.100.10', 2)).toBe(2);
});

test('the only address of an interface takes the routes by it along, and nothing fails', async () => {
  const [address] = (await router.rest.list('/ip/address')).filter((row) => row.interface === 'ether3');
  const route = await router.rest.add('/ip/route', { 'dst-address': '192.0.2.0/24', gateway: '192.168.89.254' });
  const routes = () => router.host('router').must('ip', 'route', 'show', '192.0.2.0/24');
  expect(routes()).toContain('via 192.168.89.254');
  const id = address?.['.id'] ?? '';
  await router.rest.set('/ip/address', id, { disabled: 'yes' });
  expect(routes()).toBe('');
  await router.rest.set('/ip/address', id, { disabled: 'no' });
  expect(routes()).toContain('via 192.168.89.254');
  await router.rest.remove('/ip/route', route);
  const log = await router.rest.list('/log');
  expect(log.filter(({ topics }) => topics?.includes('error'))).toEqual([]);
});

test('programs in the namespace have no route by a link that is down, but the one that the router goes on by', async () => {
  const services = router.host('router');
  const routes = () => services.must('ip', 'route', 'show', '192.0.2.0/24');
  const ids: string[] = [];
  const add = async (gateway: string, distance: string) =>
    ids.push(await router.rest.add('/ip/route', { 'dst-address': '192.0.2.0/24', gateway, distance }));
  await add('203.0.113.1', '1');
  await add('192.168.88.254', '2');
  try {
    expect(routes()).toMatch(/via 203\.0\.113\.1 .*metric 1 [\s\S]*via 192\.168\.88\.254 .*metric 2 /);
    router.host('wan').must('ip', 'link', 'set', 'eth0', 'down');
    await eventually(() => !routes().includes('203.0.113.1'));
    expect(routes()).toMatch(/via 192\.168\.88\.254 .*metric 2 /);
    expect((await router.rest.get('/ip/route', ids[1] ?? '')).active).toBe('true');
  } finally {
    router.host('wan').must('ip', 'link', 'set', 'eth0', 'up');
    await eventually(() => routes().includes('203.0.113.1'));
    for (const id of ids) await router.rest.remove('/ip/route', id);
  }
  await eventually(() => services.ping('198.51.100.10', 2) === 2);
});

test('a packet too large for a link that must not be fragmented is answered with the size that fits', async () => {
  const lan = router.host('lan');
  await router.rest.set('/interface/ethernet', 'ether1', { mtu: '1400' });
  try {
    const ping = await eventually(() => {
      const ran = lan.run('ping', '-n', '-M', 'do', '-s', '1450', '-c', '1', '-W', '2', '198.51.100.10');
      return /mtu ?= ?1400/.test(ran.stdout + ran.stderr) ? ran : undefined;
    });
    expect(ping.code).not.toBe(0);
  } finally {
    await router.rest.set('/interface/ethernet', 'ether1', { mtu: '1500' });
  }
});
