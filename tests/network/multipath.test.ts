import { afterAll, beforeAll, expect, test } from 'vitest';
import { addHost, type Background, type Host, link, removeHost } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/** A default route by two providers, each of which answers for all addresses of 198.51.100.0/24 and says who it is. */

const prefix = `tw${process.pid}m`;
const NAMES = ['one', 'two'] as const;
let box: Host;
let client: Host;
let providers: Host[] = [];
let servers: Background[] = [];
let router: Router;
let route: string;

/** Answers each connection with its name. */
const SERVER = `
  import { createServer } from 'node:net';
  createServer((socket) => socket.end(process.argv[1])).listen(7, '0.0.0.0', () => console.log('ready'));
`;

/** Connects to 40 addresses, and prints who has answered each, a letter each: a dot for nobody. */
const ASK = `
  import { connect } from 'node:net';
  const ask = (last) => new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: '198.51.100.' + last, port: 7, timeout: 3000 });
    socket.on('data', (data) => { text += data; });
    socket.on('end', () => resolve(text[0] ?? '.'));
    for (const event of ['error', 'timeout']) socket.on(event, () => { socket.destroy(); resolve('.'); });
  });
  console.log((await Promise.all(Array.from({ length: 40 }, (_, at) => ask(at + 1)))).join(''));
`;

const answers = (): string => client.must(process.execPath, '--input-type=module', '-e', ASK).trim();

const gateways = async () => {
  const row = (await router.rest.list('/ip/route')).find((each) => each['.id'] === route);
  return { ecmp: row?.ecmp, active: row?.active, by: row?.['immediate-gw'] };
};

beforeAll(async () => {
  box = addHost(`${prefix}-box`);
  client = addHost(`${prefix}-client`);
  providers = NAMES.map((name) => addHost(`${prefix}-${name}`));
  for (const [at, host] of [client, ...providers].entries()) {
    link(box, `eth${at + 1}`, host, 'eth0');
    host.must('ip', 'address', 'add', `10.10.${at + 1}.2/24`, 'dev', 'eth0');
    host.must('ip', 'route', 'add', 'default', 'via', `10.10.${at + 1}.1`);
  }
  for (const host of providers) host.must('ip', 'route', 'add', 'local', '198.51.100.0/24', 'dev', 'lo');
  servers = providers.map((host, at) => host.script(SERVER, NAMES[at] ?? ''));
  await eventually(() => servers.every((server) => server.stdout.includes('ready')));
  router = await newRouter({ inside: box, options: ['--ports', 'eth1,eth2,eth3', '--no-defaults'] }).up();
  for (const at of [1, 2, 3]) {
    await router.rest.add('/ip/address', { address: `10.10.${at}.1/24`, interface: `ether${at}` });
  }
  await router.rest.add('/ip/firewall/filter', { chain: 'forward', action: 'passthrough' });
  route = await router.rest.add('/ip/route', { gateway: '10.10.2.2,10.10.3.2', 'check-gateway': 'ping' });
});
afterAll(async () => {
  await dispose(router);
  for (const server of servers) await server.end('SIGKILL');
  for (const host of [box, client, ...providers]) removeHost(host);
});

test('flows are divided, and those of a gateway that stops answering move, the others do not', async () => {
  await eventually(async () => (await gateways()).ecmp === 'true');
  expect(await gateways()).toEqual({ ecmp: 'true', active: 'true', by: '10.10.2.2%ether2,10.10.3.2%ether3' });
  const before = answers();
  expect(before).toMatch(/^[ot]{40}$/);
  expect(before.match(/o/g)?.length).toBeGreaterThan(5);
  expect(before.match(/t/g)?.length).toBeGreaterThan(5);
  expect(answers()).toBe(before);

  // The second provider stays on the link, but its gateway answers no echo request any more.
  providers[1]?.must('sysctl', '-qw', 'net.ipv4.icmp_echo_ignore_all=1');
  await eventually(async () => (await gateways()).by === '10.10.2.2%ether2');
  expect((await gateways()).active).toBe('true');
  expect(answers()).toBe('o'.repeat(40));
  providers[0]?.must('sysctl', '-qw', 'net.ipv4.icmp_echo_ignore_all=1');
  await eventually(async () => (await gateways()).active === 'false');
  const hint = (await router.rest.list('/ip/route')).find((each) => each['.id'] === route)?.hint;
  expect(hint).toContain('the gateway 10.10.2.2 does not answer');
  for (const host of providers) host.must('sysctl', '-qw', 'net.ipv4.icmp_echo_ignore_all=0');
  await eventually(async () => (await gateways()).ecmp === 'true');
  expect(answers()).toBe(before);
  const log = (await router.rest.list('/log')).map(({ message }) => message);
  expect(log).toContain('gateway 10.10.3.2 does not answer');
  expect(log).toContain('gateway 10.10.3.2 answers again');
}, 300_000);

test('routes of the same distance share flows, and of a lower one the other is a spare', async () => {
  await router.rest.set('/ip/route', route, { gateway: '10.10.2.2', 'check-gateway': 'arp' });
  const second = await router.rest.add('/ip/route', { gateway: '10.10.3.2' });
  await eventually(async () => (await gateways()).ecmp === 'true');
  expect(answers()).toMatch(/^(?=.*o)(?=.*t)[ot]{40}$/);
  await router.rest.set('/ip/route', second, { distance: '2' });
  await eventually(() => answers() === 'o'.repeat(40));
  // The first provider falls silent on its link, which stays up.
  providers[0]?.must('ip', 'link', 'set', 'eth0', 'arp', 'off');
  await eventually(async () => (await gateways()).active === 'false');
  expect(answers()).toBe('t'.repeat(40));
  providers[0]?.must('ip', 'link', 'set', 'eth0', 'arp', 'on');
  await eventually(() => answers() === 'o'.repeat(40));
  await router.rest.remove('/ip/route', second);
}, 300_000);

test('a gateway may be behind another route, and a route may refuse', async () => {
  await router.rest.set('/ip/route', route, { 'check-gateway': 'none', gateway: '172.16.9.9' });
  await eventually(async () => (await gateways()).active === 'false');
  const near = await router.rest.add('/ip/route', {
    'dst-address': '172.16.9.9/32',
    gateway: '10.10.3.2',
    scope: '10',
  });
  await eventually(async () => (await gateways()).by === '10.10.3.2%ether3');
  expect(answers()).toBe('t'.repeat(40));
  await router.rest.set('/ip/route', near, { gateway: '10.10.2.2' });
  await eventually(() => answers() === 'o'.repeat(40));
  const ping = () => client.run('ping', '-n', '-c', '2', '-i', '0.3', '-W', '1', '192.0.2.7').stdout;
  for (const [type, answer] of [
    ['unreachable', /Destination Host Unreachable/],
    ['prohibit', /Packet filtered/],
  ] as const) {
    const refusing = await router.rest.add('/ip/route', { 'dst-address': '192.0.2.0/24', [type]: 'yes' });
    await eventually(() => answer.test(ping()));
    await router.rest.remove('/ip/route', refusing);
  }
}, 300_000);
