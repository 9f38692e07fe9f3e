import { afterAll, beforeAll, expect, test } from 'vitest';
import { addHost, type Background, type Host, link, removeHost } from './netns.ts';
import type { Row } from './rest.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually, sleep } from './wait.ts';

/**
 * The router as a host of a provider's network: two gateways and the router on one switch. The first gateway advertises
 * itself and a network; behind the second one is a server, of which the first one says so by a redirect.
 */

const prefix = `tw${process.pid}h`;
const NETWORK = '2001:db8:77:';
const SERVER = '2001:db8:99::9';
const ADDRESS = '/ipv6/address';
const SETTINGS = '/ipv6/settings';

let hosts: Host[] = [];
let gateway: Host;
let other: Host;
let inside: Host;
let advertising: Background;
let router: Router;

const set = (values: Record<string, string>) => router.rest.command(`${SETTINGS}/set`, values);
const linkLocalOf = (host: Host): string =>
  /inet6 (fe80:\S+)\//.exec(host.must('ip', '-6', 'address', 'show', 'dev', 'eth0', 'scope', 'link'))?.[1] ?? '';
const made = async (): Promise<Row | undefined> =>
  (await router.rest.list(ADDRESS)).find((row) => row.address?.startsWith(NETWORK));
const learned = async (): Promise<Row | undefined> =>
  (await router.rest.list('/ipv6/route')).find((row) => row['dst-address'] === '::/0');

/** The first gateway advertises itself, for a time in seconds, and the network, for a time or as one that is deprecated. */
const advertise = (lifetime: string, network = '2h'): Background =>
  gateway.start(
    'dnsmasq',
    '--conf-file=/dev/null',
    '--keep-in-foreground',
    '--port=0',
    '--leasefile-ro',
    '--interface=eth0',
    '--enable-ra',
    `--dhcp-range=${NETWORK}:,ra-only,64,${network}`,
    `--ra-param=eth0,4,${lifetime}`,
  );

beforeAll(async () => {
  const names = ['box', 'switch', 'gateway', 'other'];
  hosts = names.map((name) => addHost(`${prefix}-${name}`, true));
  const [box, bridge, ...gateways] = hosts as [Host, Host, Host, Host];
  [gateway, other] = gateways;
  bridge.must('ip', 'link', 'add', 'br0', 'type', 'bridge', 'mcast_snooping', '0');
  bridge.must('ip', 'link', 'set', 'br0', 'up');
  for (const [at, host] of [box, ...gateways].entries()) {
    link(host, host === box ? 'eth1' : 'eth0', bridge, `port${at}`);
    bridge.must('ip', 'link', 'set', `port${at}`, 'master', 'br0');
  }
  for (const [at, host] of gateways.entries()) {
    host.must('ip', 'address', 'add', `${NETWORK}:${at + 1}/64`, 'dev', 'eth0');
    host.must('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1');
  }
  other.must('ip', 'address', 'add', `${SERVER}/128`, 'dev', 'lo');
  gateway.must('ip', 'route', 'add', `${SERVER}/128`, 'via', linkLocalOf(other), 'dev', 'eth0');
  router = await newRouter({ inside: box, options: ['--ports', 'eth1', '--no-defaults'] }).up();
  inside = router.host('router');
  advertising = advertise('600');
});
afterAll(async () => {
  await dispose(router);
  await advertising.end('SIGTERM');
  for (const host of hosts) removeHost(host);
});

test('a router that forwards listens to no other', async () => {
  await sleep(3_000);
  expect([await made(), await learned()]).toEqual([undefined, undefined]);
});

test('one that does not makes itself an address, and takes the default route', async () => {
  await set({ forward: 'no' });
  await eventually(async () => (await made()) !== undefined && (await learned())?.active === 'true');
  const address = await made();
  expect(address).toMatchObject({ dynamic: 'true', interface: 'ether1', global: 'true', deprecated: 'false' });
  expect(address?.valid).toMatch(/^(2h|1h59m)/);
  const route = await learned();
  expect(route).toMatchObject({ dynamic: 'true', slaac: 'true', distance: '1' });
  expect(route?.['immediate-gw']).toBe(`${linkLocalOf(gateway)}%ether1`);
  const own = address?.address?.split('/')[0] ?? '';
  await eventually(() => gateway.ping(own, 1) === 1);
  // Its services have the address and the route.
  await eventually(() => inside.ping(SERVER, 1) === 1);
  expect(inside.ping(SERVER, 3)).toBe(3);
  expect(inside.must('ip', '-6', 'route', 'get', SERVER)).toContain(own);
});

test('redirects lead what it sends itself by the other gateway, while they are accepted', async () => {
  // The first gateway forwards one packet, tells of the other one, and forwards nothing more.
  const followed = async (): Promise<number> => {
    gateway.must('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1');
    await eventually(() => inside.ping(SERVER, 3) === 3);
    gateway.must('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=0');
    return inside.ping(SERVER, 3);
  };
  await set({ 'accept-redirects': 'no' });
  expect(await followed()).toBe(0);
  await set({ 'accept-redirects': 'yes-if-forwarding-disabled' });
  expect(await followed()).toBe(3);
  gateway.must('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1');
  const neighbors = await router.rest.list('/ipv6/neighbor');
  expect(neighbors.map((row) => row.address)).toContain(linkLocalOf(other));
});

test('both go with the setting, and are there on the interfaces of a list alone', async () => {
  await set({ 'accept-router-advertisements': 'no' });
  await eventually(async () => (await made()) === undefined && (await learned()) === undefined);
  expect(inside.ping(SERVER, 1)).toBe(0);
  await set({ forward: 'yes', 'accept-router-advertisements': 'yes', 'accept-router-advertisements-on': 'none' });
  await sleep(5_000);
  expect(await made()).toBeUndefined();
  await router.rest.add('/interface/list', { name: 'uplinks' });
  await router.rest.add('/interface/list/member', { list: 'uplinks', interface: 'ether1' });
  await set({ 'accept-router-advertisements-on': 'uplinks' });
  await eventually(async () => (await made()) !== undefined && (await learned()) !== undefined);
  await eventually(() => inside.ping(SERVER, 1) === 1);
});

test('a router that says that it is none is not used', async () => {
  await advertising.end('SIGTERM');
  advertising = advertise('0');
  await eventually(async () => (await learned()) === undefined);
  // Its network is still one.
  expect(await made()).toMatchObject({ deprecated: 'false' });
});

test('a neighbour that nobody uses is kept while there are few, and then as long as it is told', async () => {
  const [port] = await router.rest.list('/interface/ethernet');
  await router.rest.set('/interface/ethernet', port?.['.id'] ?? '', { 'arp-timeout': '1s' });
  await set({ 'stale-neighbor-timeout': '2', 'stale-neighbor-detect-interval': '1' });
  const known = async () => (await router.rest.list('/ipv6/neighbor')).some((row) => row.address === `${NETWORK}:2`);
  await eventually(() => inside.ping(`${NETWORK}:2`, 1) === 1);
  await sleep(8_000);
  expect(await known()).toBe(true);
  await set({ 'min-neighbor-entries': '0' });
  await eventually(async () => !(await known()));
});

test('services know which address is deprecated', async () => {
  await advertising.end('SIGTERM');
  advertising = advertise('600', 'deprecated');
  const isDeprecated = (): boolean =>
    /inet6 2001:db8:77:\S+ .*deprecated/.test(inside.must('ip', '-6', 'address', 'show', 'scope', 'global'));
  await eventually(async () => (await made())?.deprecated === 'true' && isDeprecated());
  await advertising.end('SIGTERM');
  advertising = advertise('600');
  await eventually(async () => (await made())?.deprecated === 'false' && !isDeprecated());
});
