import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { addHost, type Background, type Host, link, removeHost } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually, sleep } from './wait.ts';

/** Flows that the kernel forwards for the router: what one sees of them, and that they end when they have to. */

const prefix = `twf${process.pid}`;
const SETTINGS = '/ip/settings';
const CONNECTIONS = '/ip/firewall/connection';
const FILTER = '/ip/firewall/filter';
let box: Host;
let left: Host;
let right: Host;
let router: Router;
let server: Background;

beforeAll(() => {
  box = addHost(`${prefix}-box`);
  left = addHost(`${prefix}-left`);
  right = addHost(`${prefix}-right`);
  for (const [index, host] of [left, right].entries()) {
    link(box, `eth${index + 1}`, host, 'eth0');
    host.must('ip', 'address', 'add', `10.10.${index + 1}.2/24`, 'dev', 'eth0');
    host.must('ip', 'route', 'add', 'default', 'via', `10.10.${index + 1}.1`);
  }
});
beforeEach(async () => {
  // A server whose client goes without a word waits for it.
  server = right.start('iperf3', '--server');
  router = newRouter({ inside: box, options: ['--ports', 'eth1,eth2', '--no-defaults'] });
  await router.up();
  for (const index of [1, 2]) {
    await router.rest.add('/ip/address', { address: `10.10.${index}.1/24`, interface: `ether${index}` });
  }
  await router.rest.command(`${SETTINGS}/set`, { 'flow-offload': 'yes' });
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
});
afterEach(async () => {
  await server.end('SIGKILL');
  await dispose(router);
});
afterAll(() => {
  for (const host of [box, left, right]) removeHost(host);
});

const masquerade = () =>
  router.rest.add('/ip/firewall/nat', { chain: 'srcnat', action: 'masquerade', 'out-interface': 'ether2' });

/** A TCP stream that goes on for some seconds, as iperf3's JSON in the end. */
const stream = (seconds: number, ...options: string[]) =>
  left.start('iperf3', '--client', '10.10.2.2', '--time', String(seconds), '--json', ...options);

/** Connections of streams that the kernel forwards. */
const offloaded = async () =>
  (await router.rest.list(CONNECTIONS)).filter(
    (row) => row['hw-offload'] === 'true' && row['dst-address']?.endsWith(':5201'),
  );

/** The offloaded connections, as soon as there are some. */
const someOffloaded = () =>
  eventually(async () => {
    const rows = await offloaded();
    return rows.length > 0 ? rows : undefined;
  });

/** Bytes that have arrived at a host. */
const arrived = (host: Host): number =>
  JSON.parse(host.must('ip', '-json', '-statistics', 'link', 'show', 'eth0'))[0].stats64.rx.bytes;

const bytesOf = async (name: string, counter: string) =>
  Number((await router.rest.list('/interface')).find((row) => row.name === name)?.[counter] ?? 0);

test('a stream through NAT goes by the kernel, is counted as ever, and its end is noticed', async () => {
  await masquerade();
  const rule = await router.rest.add(FILTER, { chain: 'forward', action: 'accept', 'connection-state': 'established' });
  const before = await bytesOf('ether2', 'tx-byte');
  const running = stream(3);
  const [row] = await someOffloaded();
  expect(row?.['reply-dst-address']).toMatch(/^10\.10\.2\.1:/);
  expect(row?.srcnat).toBe('true');
  const { end } = JSON.parse((await running.ended()).stdout);
  const received: number = end.sum_received.bytes;
  expect(received).toBeGreaterThan(1e6);
  const sent = (await bytesOf('ether2', 'tx-byte')) - before;
  // Besides data there are headers, and what was sent again.
  expect(sent).toBeGreaterThan(received);
  expect(sent).toBeLessThan(received * 1.2);
  const counted = Number((await router.rest.list(FILTER)).find((each) => each['.id'] === rule)?.bytes);
  expect(counted).toBeGreaterThan(received);
  expect(counted).toBeLessThan(received * 1.3);
  const handlers = await router.rest.list(`${SETTINGS}/fast-path`);
  const offload = handlers.find((each) => each.name === 'flow-offload');
  expect(offload?.active).toBe('true');
  expect(Number(offload?.bytes)).toBeGreaterThan(received / 2);
  await eventually(async () =>
    (await router.rest.list(CONNECTIONS)).every(
      (each) => !each['dst-address']?.endsWith(':5201') || each['tcp-state'] !== 'established',
    ),
  );
});

test('a rule that drops a stream which the kernel forwards ends it with its commit', async () => {
  await masquerade();
  const running = stream(20);
  await eventually(async () => (await offloaded()).length > 0);
  await router.rest.add(FILTER, { chain: 'forward', action: 'drop', protocol: 'tcp' });
  const then = arrived(right);
  await sleep(500);
  // Beside the stream there are ARP and the like.
  expect(arrived(right) - then).toBeLessThan(10_000);
  await running.end('SIGKILL');
});

test('a trace sees packets that the kernel forwards, and a connection that is removed goes from it', async () => {
  // Not translated: an answer to a connection that is gone would be for the router, which resets it.
  await router.rest.command(`${CONNECTIONS}/tracking/set`, { enabled: 'yes' });
  const running = stream(90);
  await someOffloaded();
  const traced = await router.rest.command('/tool/packet-trace', { protocol: 'tcp', packets: '5', duration: '10s' });
  expect(traced).toHaveLength(5);
  const ids = new Set((await someOffloaded()).map((row) => row['.id']));
  for (const id of ids) await router.rest.remove(CONNECTIONS, id ?? '');
  // The next segment, of either side, makes another one.
  await eventually(async () =>
    (await router.rest.list(CONNECTIONS)).some(
      (row) =>
        row['hw-offload'] === 'true' &&
        !ids.has(row['.id']) &&
        [row['src-address'], row['dst-address']].some((address) => address?.endsWith(':5201')),
    ),
  );
  await running.end('SIGKILL');
});

test('datagrams are neither lost nor doubled while flows come to the kernel and leave it', async () => {
  await masquerade();
  const receiver = right.script(`
    import { createSocket } from 'node:dgram';
    const seen = new Map();
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 });
    socket.on('message', (data) => {
      if (data.length === 4) return console.log(JSON.stringify([seen.size, Math.max(...seen.values())]));
      const number = data.readUInt32BE();
      seen.set(number, (seen.get(number) ?? 0) + 1);
    });
    socket.bind(7001, () => console.log('ready'));
  `);
  await eventually(() => receiver.stdout.includes('ready'));
  const sender = left.script(`
    import { createSocket } from 'node:dgram';
    const socket = createSocket('udp4');
    let number = 0;
    const started = performance.now();
    const timer = setInterval(() => {
      const due = Math.min(8000, (performance.now() - started) * 2);
      for (let burst = 0; number < due && burst < 50; number += 1, burst += 1) {
        const data = Buffer.alloc(100);
        data.writeUInt32BE(number);
        socket.send(data, 7001, '10.10.2.2');
      }
      if (number >= 8000) {
        clearInterval(timer);
        setTimeout(() => socket.send(Buffer.alloc(4), 7001, '10.10.2.2', () => socket.close()), 500);
      }
    }, 2);
  `);
  let met = 0;
  for (let turn = 0; !sender.exited; turn += 1) {
    await sleep(250);
    const rows = await router.rest.list(CONNECTIONS);
    if (rows.some((row) => row['hw-offload'] === 'true' && row['dst-address']?.endsWith(':7001'))) met += 1;
    if (turn % 3 === 1) await router.rest.command(`${SETTINGS}/set`, { 'flow-offload': turn % 2 === 0 ? 'no' : 'yes' });
    else await router.rest.command(`${SETTINGS}/set`, { 'rp-filter': turn % 2 === 0 ? 'no' : 'loose' });
  }
  await eventually(() => receiver.stdout.includes('['));
  await receiver.end('SIGKILL');
  expect(met).toBeGreaterThan(0);
  expect(JSON.parse(receiver.stdout.slice(receiver.stdout.indexOf('[')))).toEqual([8000, 1]);
});

test('rules count what the kernel forwards exactly, however often the configuration changes', async () => {
  const counting = { action: 'passthrough', chain: 'forward', protocol: 'udp', 'dst-port': '5201' };
  const menus = [FILTER, '/ip/firewall/mangle'];
  const rules = await Promise.all(menus.map(async (menu) => router.rest.add(menu, counting)));
  const running = stream(60, '--udp', '--bitrate', '100M', '--length', '200');
  await someOffloaded();
  for (let change = 0; change < 10; change += 1) {
    const other = await router.rest.add(FILTER, { chain: 'forward', action: 'drop', 'dst-address': '192.0.2.1' });
    await router.rest.remove(FILTER, other);
  }
  await running.end('SIGKILL');
  // Packets that have been sent arrive.
  await sleep(500);
  const [row] = (await router.rest.list(CONNECTIONS)).filter(
    (each) => each.protocol === 'udp' && each['dst-address']?.endsWith(':5201'),
  );
  expect(Number(row?.['orig-packets'])).toBeGreaterThan(10_000);
  for (const [index, menu] of menus.entries()) {
    const rule = (await router.rest.list(menu)).find((each) => each['.id'] === rules[index]);
    expect([rule?.packets, rule?.bytes]).toEqual([row?.['orig-packets'], row?.['orig-bytes']]);
  }
});

test('without connection tracking all between two addresses goes by the kernel, as long as the route stands', async () => {
  await router.rest.command('/ip/firewall/connection/tracking/set', { enabled: 'no' });
  const fast = async () => Number((await router.rest.get(SETTINGS))['ipv4-fast-path-packets']);
  const before = await fast();
  const pings = left.run('ping', '-n', '-i', '0.01', '-c', '300', '10.10.2.2');
  expect(pings.stdout).toContain(' 0% packet loss');
  expect(await fast()).toBeGreaterThanOrEqual(before + 590);
  expect(left.run('ping', '-n', '-c', '1', '-t', '1', '10.10.2.2').stdout).toMatch(/Time to live exceeded/);
  const going = left.start('ping', '-n', '-i', '0.01', '10.10.2.2');
  await sleep(500);
  await router.rest.add('/ip/route', { 'dst-address': '10.10.2.2/32', blackhole: '' });
  await sleep(200);
  const then = arrived(right);
  await sleep(500);
  expect(arrived(right) - then).toBeLessThan(10 * 98);
  await going.end('SIGKILL');
});

test('an agent that is killed takes its flows from the kernel, and the next one goes on with them', async () => {
  await masquerade();
  const running = stream(30);
  await eventually(async () => (await offloaded()).length > 0);
  process.kill(router.pid('agent'), 'SIGKILL');
  await eventually(async () => (await offloaded()).length > 0, 90_000);
  const then = arrived(right);
  await eventually(() => arrived(right) > then + 1e6);
  await running.end('SIGKILL');
});
