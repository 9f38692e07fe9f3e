import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Host } from './netns.ts';
import { QUEUE, upDown } from './queue.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/** The lab's networks of IPv6, with real clients. */
const SERVER6 = '2001:db8:198::10';
const FILTER = '/ipv6/firewall/filter';

let router: Router;
let lan: Host;
let lan2: Host;
let wan: Host;
let server: Host;

beforeAll(async () => {
  router = await newRouter().up();
  [lan, lan2, wan, server] = [router.host('lan'), router.host('lan2'), router.host('wan'), router.host('server')];
  // Addresses are used when no other station has answered for them.
  await eventually(() => lan.run('ping', '-6', '-n', '-c', '1', '-W', '1', SERVER6).stdout.includes(' 1 received'));
});
afterAll(() => dispose(router));

const received = (host: Host, count: number, ...args: string[]): number => {
  const { stdout } = host.run('ping', '-6', '-n', '-c', String(count), '-i', '0.2', '-W', '3', ...args);
  return Number(/(\d+) received/.exec(stdout)?.[1] ?? Number.NaN);
};

/** The link-local address of the router on a port. */
async function linkLocal(port: string): Promise<string> {
  const rows = await router.rest.list('/ipv6/address');
  const own = rows.find((row) => row.interface === port && row['link-local'] === 'true');
  return own?.address?.split('/')[0] ?? '';
}

test('pings reach the router by each of its addresses, hosts beyond it, and come back from it', async () => {
  expect(received(lan, 3, '2001:db8:88::1')).toBe(3);
  expect(received(lan, 3, '2001:db8:203::2')).toBe(3);
  expect(received(lan, 3, `${await linkLocal('ether2')}%eth0`)).toBe(3);
  expect(received(lan, 3, SERVER6)).toBe(3);
  expect(received(lan, 3, '2001:db8:89::10')).toBe(3);
  expect(received(router.host('router'), 3, '2001:db8:88::10')).toBe(3);
  expect(received(router.host('router'), 3, SERVER6)).toBe(3);
});

test('the fast path of IPv6 is switched off and counted for itself', async () => {
  const counted = async () => {
    const [v4, v6] = [await router.rest.get('/ip/settings'), await router.rest.get('/ipv6/settings')];
    return [Number(v4['ipv4-flow-cache-packets']), Number(v6['ipv6-flow-cache-packets'])] as const;
  };
  const pinged = async () => {
    const before = await counted();
    expect(received(lan, 10, SERVER6)).toBe(10);
    expect(lan.ping('198.51.100.10', 10)).toBe(10);
    const after = await counted();
    return [after[0] - before[0], after[1] - before[1]];
  };
  const status = async () => (await router.rest.get('/ipv6/settings'))['ipv6-flow-cache-active'];
  expect(await status()).toBe('true');
  for (const each of await pinged()) expect(each).toBeGreaterThan(10);
  await router.rest.request('PATCH', '/rest/ipv6/settings', { 'allow-fast-path': 'no' });
  try {
    expect(await status()).toBe('false');
    const [v4, v6] = await pinged();
    expect(v4).toBeGreaterThan(10);
    expect(v6).toBe(0);
    expect((await router.rest.get('/ip/settings'))['ipv4-flow-cache-active']).toBe('true');
  } finally {
    await router.rest.request('PATCH', '/rest/ipv6/settings', { 'allow-fast-path': 'yes' });
  }
});

test('a client is held at the rate of its queue, whose target is its prefix', async () => {
  const [limit, seconds, bucket] = [4e6, 4, 0.1];
  const id = await router.rest.add(QUEUE, { name: 'lan6', target: '2001:db8:88::/64', 'max-limit': '4M/0' });
  try {
    const { stdout } = await lan.start('iperf3', '-6', '-c', SERVER6, '-t', String(seconds), '-J').ended();
    const { bytes } = JSON.parse(stdout).end.sum_received;
    // What is received is less than what the queue counts, by headers and what was sent again, and may come later.
    expect(bytes * 8).toBeLessThan(limit * (seconds + 1 + bucket));
    expect(bytes * 8).toBeGreaterThan(limit);
    const row = await router.rest.get(QUEUE, id);
    expect(upDown(row, 'bytes').upload).toBeGreaterThan(bytes);
    expect(upDown(row, 'bytes').download).toBeGreaterThan(0);
    expect(upDown(row, 'dropped').upload).toBeGreaterThan(0);
  } finally {
    await router.rest.remove(QUEUE, id);
  }
});

test('traceroute and tracepath name the router and the provider', () => {
  const hops = ['2001:db8:88::1', '2001:db8:203::1', SERVER6];
  // One probe at a time: hosts limit how many errors they send.
  const { stdout } = lan.run('traceroute', '-6', '-n', '-N', '1', '-q', '1', '-w', '2', SERVER6);
  expect(stdout.match(/^ *\d+ +(\S+)/gm)?.map((line) => line.trim().split(/ +/)[1])).toEqual(hops);
  const path = lan.run('tracepath', '-6', '-n', SERVER6).stdout;
  for (const hop of hops) expect(path).toContain(hop);
  expect(path).toContain('pmtu 1500');
});

test('a host makes itself an address of the advertised network and pings by it', async () => {
  const advertised = lan.run('rdisc6', '-1', '-w', '5000', 'eth0').stdout;
  expect(advertised).toContain(`from ${await linkLocal('ether2')}`);
  expect(advertised).toMatch(/Prefix +: 2001:db8:88::\/64/);
  expect(advertised).toMatch(/Router lifetime +: +1800/);
  expect(advertised).toMatch(/MTU +: +1500/);
  const made = () =>
    /inet6 (2001:db8:88:\S+)\/64 scope global dynamic/.exec(
      lan.run('ip', '-6', 'address', 'show', 'dev', 'eth0').stdout,
    )?.[1];
  await eventually(() => made() !== undefined);
  expect(received(lan, 3, '-I', made() ?? '', SERVER6)).toBe(3);
  // The provider is told nothing.
  expect(wan.run('rdisc6', '-1', '-r', '1', '-w', '2000', 'eth0').stdout).not.toContain('Prefix');
});

test('an address that is advertised no more is withdrawn', async () => {
  const rows = await router.rest.list('/ipv6/address');
  const id = rows.find((row) => row.address === '2001:db8:89::1/64')?.['.id'] ?? '';
  const route = () => lan2.run('ip', '-6', 'route', 'show', 'default').stdout;
  await eventually(() => route().includes('proto ra'));
  await router.rest.set('/ipv6/address', id, { advertise: 'false' });
  await eventually(() => !route().includes('proto ra'));
  expect(lan2.run('ip', '-6', 'address', 'show', 'dev', 'eth0').stdout).toMatch(
    /dynamic.* deprecated|deprecated.*dynamic/,
  );
  await router.rest.set('/ipv6/address', id, { advertise: 'true' });
  await eventually(() => route().includes('proto ra'));
});

test('hosts are told when the data plane ends, and find the router again when it is back', async () => {
  const route = () => lan2.run('ip', '-6', 'route', 'show', 'default').stdout;
  await eventually(() => route().includes('proto ra'));
  const seen = lan2.start('ip', '-6', 'monitor', 'route');
  await eventually(() => {
    lan2.must('ip', '-6', 'route', 'replace', 'unreachable', '2001:db8:fe::/48');
    return seen.stdout.includes('2001:db8:fe::/48');
  });
  process.kill(router.pid('agent'), 'SIGTERM');
  await eventually(() => /Deleted default .*proto ra/.test(seen.stdout));
  await seen.end();
  await eventually(() => route().includes('proto ra'), 60_000);
  await eventually(() => received(lan, 1, SERVER6) === 1, 60_000);
});

test('neighbours know each other: in the host, in the router, and after a removal again', async () => {
  const mac = /link\/ether (\S+)/.exec(lan.run('ip', 'link', 'show', 'eth0').stdout)?.[1]?.toUpperCase();
  expect(received(lan, 1, '2001:db8:88::1')).toBe(1);
  expect(lan.run('ip', '-6', 'neigh', 'show', '2001:db8:88::1').stdout).toMatch(
    /lladdr \S+ router (REACHABLE|DELAY|STALE)/,
  );
  expect(received(router.host('router'), 1, '2001:db8:88::10')).toBe(1);
  const known = async () =>
    (await router.rest.list('/ipv6/neighbor')).find(({ address }) => address === '2001:db8:88::10');
  await eventually(async () => (await known())?.['mac-address'] === mac);
  expect(await known()).toMatchObject({ interface: 'ether2', dynamic: 'true' });
  await router.rest.remove('/ipv6/neighbor', (await known())?.['.id'] ?? '');
  expect(await known()).toBeUndefined();
  expect(received(router.host('router'), 1, '2001:db8:88::10')).toBe(1);
  await eventually(async () => (await known())?.['mac-address'] === mac);
});

test('pages and streams pass, and the way back is open for them alone', async () => {
  server.must('ip', 'link', 'show', 'eth0');
  expect(lan.run('curl', '-6', '-s', '-m', '10', `http://[${SERVER6}]/?bytes=300000`).stdout.length).toBe(300_000);
  const sink = server.start('iperf3', '-6', '-s', '-1', '-p', '5299', '-B', SERVER6);
  await eventually(() => server.run('ss', '-6', '-ltn').stdout.includes(':5299'));
  const stream = lan.run('iperf3', '-6', '-c', SERVER6, '-p', '5299', '-n', '20M', '-J');
  expect(JSON.parse(stream.stdout).end.sum_received.bytes).toBeGreaterThan(10_000_000);
  await sink.ended();
  // The default rules let nothing new in from the provider but ICMPv6.
  expect(received(server, 2, '2001:db8:88::10')).toBe(2);
  const refused = server.run('curl', '-6', '-s', '-m', '2', '-o', '/dev/null', 'http://[2001:db8:88::10]:8000/');
  expect(refused.code).toBe(28);
  const rules = await router.rest.list(FILTER);
  const last = rules.findLast((rule) => rule.chain === 'forward' && rule.action === 'drop');
  expect(Number(last?.packets)).toBeGreaterThan(0);
});

test('a rule on top drops, rejects and counts', async () => {
  const first = (await router.rest.list(FILTER)).find(({ dynamic }) => dynamic !== 'true');
  const id = await router.rest.add(FILTER, {
    chain: 'forward',
    protocol: 'icmpv6',
    'dst-address': '2001:db8:198::/64',
    action: 'drop',
    'place-before': first?.['.id'] ?? '',
  });
  expect(received(lan, 3, SERVER6)).toBe(0);
  expect((await router.rest.get(FILTER, id)).packets).toBe('3');
  await router.rest.set(FILTER, id, { action: 'reject', 'reject-with': 'icmp-admin-prohibited' });
  expect(lan.run('ping', '-6', '-n', '-c', '1', '-W', '3', SERVER6).stdout).toContain('Administratively prohibited');
  await router.rest.remove(FILTER, id);
  expect(received(lan, 3, SERVER6)).toBe(3);
});

test('what is masqueraded has the address of the router, and answers find their way', async () => {
  const NAT = '/ipv6/firewall/nat';
  const id = await router.rest.add(NAT, { chain: 'srcnat', 'out-interface': 'ether1', action: 'masquerade' });
  const listener = server.script(`
    import { createServer } from 'node:net';
    createServer((socket) => socket.end(socket.remoteAddress)).listen(7001, '::', () => console.log('ready'));`);
  await eventually(() => listener.stdout.includes('ready'));
  const asked = lan.script(`
    import { connect } from 'node:net';
    connect(7001, '${SERVER6}').on('data', (data) => console.log('seen as ' + data));`);
  await eventually(() => asked.stdout.includes('seen as'));
  expect(asked.stdout).toContain('seen as 2001:db8:203::2');
  expect(received(lan, 3, SERVER6)).toBe(3);
  expect(Number((await router.rest.get(NAT, id)).packets)).toBeGreaterThanOrEqual(2);
  await router.rest.remove(NAT, id);
  await listener.end();
  await asked.end();
});

test('connections of IPv6 are listed apart, traced by a dry run, and ended', async () => {
  const CONNECTIONS = '/ipv6/firewall/connection';
  expect(received(lan, 2, SERVER6)).toBe(2);
  const pings = async () => (await router.rest.list(CONNECTIONS)).filter((row) => row['dst-address'] === SERVER6);
  const [found] = await pings();
  expect(found).toMatchObject({ protocol: 'icmpv6', 'icmp-type': '128', 'seen-reply': 'true' });
  const ids = async (menu: string) => (await router.rest.list(menu)).map((row) => row['.id']);
  expect(await ids('/ip/firewall/connection')).not.toContain(found?.['.id']);
  for (const row of await pings()) await router.rest.remove(CONNECTIONS, row['.id'] ?? '');
  expect(await pings()).toEqual([]);
  const [dry] = (await router.rest.command('/tool/packet-trace/dry-run', {
    packet: `2001:db8:88::10 -> ${SERVER6}`,
  })) as Readonly<Record<string, string>>[];
  expect(dry).toMatchObject({ protocol: 'icmpv6', 'in-interface': 'ether2', outcome: 'forwarded' });
});

test('a packet that is too big for the next link is answered, and the sender follows', async () => {
  const [port] = (await router.rest.list('/interface/ethernet')).filter(({ name }) => name === 'ether1');
  await router.rest.set('/interface/ethernet', port?.['.id'] ?? '', { mtu: '1400' });
  const { stdout } = lan.run('ping', '-6', '-n', '-c', '2', '-i', '0.2', '-W', '3', '-M', 'do', '-s', '1400', SERVER6);
  expect(stdout).toContain('Packet too big: mtu=1400');
  expect(lan.run('ip', '-6', 'route', 'get', SERVER6).stdout).toContain('mtu 1400');
  expect(lan.run('curl', '-6', '-s', '-m', '10', `http://[${SERVER6}]/?bytes=100000`).stdout.length).toBe(100_000);
  await router.rest.set('/interface/ethernet', port?.['.id'] ?? '', { mtu: '1500' });
});

test('an address that another station has is not used, and says so', async () => {
  lan2.must('ip', '-6', 'address', 'add', '2001:db8:89::77/64', 'dev', 'eth0', 'nodad');
  const id = await router.rest.add('/ipv6/address', { address: '2001:db8:89::77/64', interface: 'ether3' });
  await eventually(async () => (await router.rest.get('/ipv6/address', id)).invalid === 'true');
  expect((await router.rest.get('/ipv6/address', id)).hint).toContain('another station has the address');
  await router.rest.remove('/ipv6/address', id);
  expect(received(lan, 2, '2001:db8:89::77')).toBe(2);
  lan2.must('ip', '-6', 'address', 'del', '2001:db8:89::77/64', 'dev', 'eth0');
});

test('without forwarding, and without IPv6 at all, nothing passes', async () => {
  await router.rest.command('/ipv6/settings/set', { forward: 'no' });
  expect(received(lan, 2, SERVER6)).toBe(0);
  expect(received(lan, 2, '2001:db8:88::1')).toBe(2);
  await router.rest.command('/ipv6/settings/set', { forward: 'yes', 'disable-ipv6': 'yes' });
  expect(received(lan, 2, '2001:db8:88::1')).toBe(0);
  await router.rest.command('/ipv6/settings/set', { 'disable-ipv6': 'no' });
  await eventually(() => received(lan, 1, SERVER6) === 1);
});
