import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { addHost, type Host, link, removeHost } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/**
 * Ports by AF_XDP: with the driver's XDP on veth devices, with the kernel's own on macvlan devices, and beside ports by
 * packet sockets. The far ends of veth pairs keep their offloads, so that frames come with partial checksums.
 */

const ETHERNET = '/interface/ethernet';
const prefix = `twx${process.pid}`;
let box: Host;
let left: Host;
let right: Host;
let router: Router | undefined;

function cable(index: 1 | 2, host: Host): void {
  link(box, `eth${index}`, host, 'eth0');
  host.must('ip', 'address', 'add', `10.10.${index}.2/24`, 'dev', 'eth0');
  host.must('ip', 'route', 'add', 'default', 'via', `10.10.${index}.1`);
}

beforeAll(() => {
  box = addHost(`${prefix}-box`);
  left = addHost(`${prefix}-left`);
  right = addHost(`${prefix}-right`);
  cable(1, left);
  cable(2, right);
});
afterEach(async () => {
  await dispose(router);
  router = undefined;
});
afterAll(() => {
  for (const host of [box, left, right]) removeHost(host);
});

/** A router with an address on both ports, each by the backend asked for. */
async function start(ports: string, ...backends: ('auto' | 'af-packet' | 'af-xdp')[]): Promise<Router> {
  const it = newRouter({ inside: box, options: ['--ports', ports, '--no-defaults'] });
  router = it;
  await it.up();
  for (const index of [1, 2]) {
    await it.rest.add('/ip/address', { address: `10.10.${index}.1/24`, interface: `ether${index}` });
  }
  for (const [index, io] of backends.entries()) if (io !== 'auto') await choose(it, `ether${index + 1}`, io);
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  return it;
}

const portRow = async (of: Router, name: string) =>
  (await of.rest.list(ETHERNET)).find((row) => row['default-name'] === name);

/** Asks for a port's backend, waits until it is open so, and gives the reason that the router tells. */
async function choose(of: Router, name: string, io: string): Promise<string> {
  await of.rest.set(ETHERNET, (await portRow(of, name))?.['.id'] ?? '', { io });
  await eventually(async () => (await portRow(of, name))?.['io-backend'] === io);
  return (await portRow(of, name))?.['io-reason'] ?? '';
}

/** Echo replies to `count` requests of one size that may not be fragmented; their bytes are compared by ping. */
function pingSized(from: Host, address: string, size: number, count: number): number {
  const options = [
    '-n',
    '-M',
    'do',
    '-i',
    '0.02',
    '-W',
    '2',
    '-p',
    'a55a0ff0',
    '-s',
    String(size),
    '-c',
    String(count),
  ];
  const { stdout } = from.run('ping', ...options, address);
  expect(stdout).not.toMatch(/wrong data|truncated/);
  return Number(/(\d+) received/.exec(stdout)?.[1] ?? 0);
}

/** Sends some megabytes by TCP and compares what arrives. */
async function transfer(from: Host, to: Host, address: string): Promise<void> {
  const receiver = to.script(`
    import { createServer } from 'node:net';
    import { createHash } from 'node:crypto';
    createServer((socket) => {
      const hash = createHash('sha256');
      socket.on('data', (data) => hash.update(data));
      socket.on('end', () => socket.end(hash.digest('hex')));
    }).listen(7000, () => console.log('ready'));
  `);
  await eventually(() => receiver.stdout.includes('ready'));
  const sender = from.script(
    `
    import { connect } from 'node:net';
    import { createHash, randomBytes } from 'node:crypto';
    const data = randomBytes(8 << 20);
    let answer = '';
    const socket = connect(7000, process.argv[1], () => socket.end(data));
    socket.on('data', (chunk) => (answer += chunk));
    socket.on('close', () => console.log(answer === createHash('sha256').update(data).digest('hex') ? 'same' : 'differs'));
    `,
    address,
  );
  await eventually(() => sender.exited, 90_000);
  await receiver.end('SIGKILL');
  expect((await sender.ended()).stdout.trim()).toBe('same');
}

test('frames of every size, TCP with offloads at both ends, and NAT pass ports by AF_XDP', async () => {
  const it = await start('eth1,eth2', 'af-xdp', 'af-xdp');
  expect(box.must('ip', 'link', 'show', 'eth1')).toMatch(/ xdp /);
  expect((await portRow(it, 'ether1'))?.['io-reason']).toMatch(/native XDP.*copied.*zero-copy was refused/);
  for (const size of [22, 36, 484, 1472]) {
    expect(pingSized(left, '10.10.2.2', size, 100)).toBe(100);
    expect(pingSized(right, '10.10.1.1', size, 100)).toBe(100);
  }
  await transfer(left, right, '10.10.2.2');
  await transfer(right, left, '10.10.1.2');
  await it.rest.add('/ip/firewall/nat', { chain: 'srcnat', action: 'masquerade', 'out-interface': 'ether2' });
  await transfer(left, right, '10.10.2.2');
  const connections = await it.rest.list('/ip/firewall/connection');
  expect(
    connections.some(
      (row) => row['dst-address'] === '10.10.2.2:7000' && row['reply-dst-address']?.startsWith('10.10.2.1:'),
    ),
  ).toBe(true);
});

test('a port by AF_XDP and one by packet sockets: super-frames of one side arrive as frames at the other', async () => {
  const it = await start('eth1,eth2', 'af-xdp', 'auto');
  expect((await portRow(it, 'ether2'))?.['io-backend']).toBe('af-packet');
  expect((await portRow(it, 'ether2'))?.['io-reason']).toContain('veth');
  for (const size of [22, 484, 1472]) expect(pingSized(left, '10.10.2.2', size, 50)).toBe(50);
  await transfer(right, left, '10.10.1.2');
  await transfer(left, right, '10.10.2.2');
  // Services of the router itself, whose stack leaves checksums and segmentation to its TAP.
  await transfer(it.host('router'), left, '10.10.1.2');
  await transfer(left, it.host('router'), '10.10.1.1');
});

test('a device whose driver has no XDP is served by the kernel’s', async () => {
  for (const [index, host] of [left, right].entries()) {
    const [port, under] = [`mac${index + 1}`, `eth${index + 1}`];
    box.must('ip', 'link', 'add', 'link', under, 'name', port, 'type', 'macvlan', 'mode', 'passthru');
    // The kernel's XDP sees what no driver has made frames of: super-frames have to stay away.
    host.must('ethtool', '-K', 'eth0', 'tso', 'off', 'gso', 'off');
  }
  try {
    const it = await start('mac1,mac2', 'af-xdp', 'af-xdp');
    expect((await portRow(it, 'ether1'))?.['io-reason']).toMatch(/generic XDP/);
    for (const size of [22, 484, 1472]) expect(pingSized(left, '10.10.2.2', size, 50)).toBe(50);
    await transfer(left, right, '10.10.2.2');
    await transfer(right, left, '10.10.1.2');
    await dispose(router);
    router = undefined;
  } finally {
    for (const port of ['mac1', 'mac2']) box.run('ip', 'link', 'delete', port);
    for (const host of [left, right]) host.must('ethtool', '-K', 'eth0', 'tso', 'on', 'gso', 'on');
  }
});

test('the backend of a port changes while the router and its other ports go on', async () => {
  const it = await start('eth1,eth2', 'auto', 'auto');
  const agent = it.pid('agent');
  const pings = right.start('ping', '-n', '-i', '0.02', '-c', '200', '10.10.2.1');
  // Frames have to come as they were on the wire: not merged, with their VLAN tags.
  const offloads = () => box.must('ethtool', '-k', 'eth1');
  const before = offloads();
  expect(before).toContain('rx-vlan-offload: on');
  for (const io of ['af-xdp', 'af-packet', 'af-xdp']) {
    await choose(it, 'ether1', io);
    await eventually(() => left.ping('10.10.2.2', 1) === 1);
    expect(box.must('ip', 'link', 'show', 'eth1').includes(' xdp ')).toBe(io === 'af-xdp');
    if (io === 'af-packet') expect(offloads()).toBe(before);
    else expect(offloads()).toMatch(/generic-receive-offload: off[\s\S]*rx-vlan-offload: off/);
  }
  expect((await pings.ended()).stdout).toContain(' 0% packet loss');
  expect(it.pid('agent')).toBe(agent);
  await it.stop();
  expect(offloads()).toBe(before);
});

test('an MTU that AF_XDP does not take leaves the port to packet sockets, until it fits', async () => {
  const it = await start('eth1,eth2', 'auto', 'auto');
  box.must('ip', 'link', 'set', 'eth1', 'mtu', '9000');
  await it.rest.set(ETHERNET, (await portRow(it, 'ether1'))?.['.id'] ?? '', { io: 'af-xdp' });
  await eventually(async () =>
    /not possible: its MTU of 9000/.test((await portRow(it, 'ether1'))?.['io-reason'] ?? ''),
  );
  expect((await portRow(it, 'ether1'))?.['io-backend']).toBe('af-packet');
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  box.must('ip', 'link', 'set', 'eth1', 'mtu', '1500');
  await eventually(async () => (await portRow(it, 'ether1'))?.['io-backend'] === 'af-xdp');
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
});

test('carrier loss, unplugging and return of a port by AF_XDP are survived', async () => {
  const it = await start('eth1,eth2', 'af-xdp', 'af-xdp');
  const running = async () => (await portRow(it, 'ether2'))?.running;
  right.must('ip', 'link', 'set', 'eth0', 'down');
  await eventually(async () => (await running()) === 'false');
  right.must('ip', 'link', 'set', 'eth0', 'up');
  right.must('ip', 'route', 'replace', 'default', 'via', '10.10.2.1');
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  box.must('ip', 'link', 'delete', 'eth2');
  await eventually(async () => (await running()) === 'false');
  expect(left.ping('10.10.1.1', 3)).toBe(3);
  cable(2, right);
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  expect((await portRow(it, 'ether2'))?.['io-backend']).toBe('af-xdp');
});

test('a kill -9 takes the program off; the port stays silent until the next start gives it back', async () => {
  const first = await start('eth1,eth2', 'af-xdp', 'af-xdp');
  await first.crash();
  await eventually(() => !box.must('ip', 'link').includes(' xdp '));
  box.must('ip', 'address', 'add', '10.10.1.9/24', 'dev', 'eth1');
  expect(left.ping('10.10.1.9', 3)).toBe(0);
  box.must('ip', 'address', 'flush', 'dev', 'eth1');
  // The configuration on disk says AF_XDP.
  const second = newRouter({ inside: box, options: ['--ports', 'eth1,eth2', '--no-defaults'], dataDir: first.dataDir });
  router = second;
  await second.up();
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  expect((await portRow(second, 'ether1'))?.['io-backend']).toBe('af-xdp');
  expect(await second.stop()).toBe(0);
  expect(box.must('ip', 'link')).not.toContain(' xdp ');
  expect(box.must('nft', 'list', 'ruleset')).toBe('');
});
