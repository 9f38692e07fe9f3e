import { connectionRecord, FIRST_AUTOCONFIGURED_ROW } from '@tollway/dataplane-agent/records';
import { menuByPath } from '@tollway/schema';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Router } from './router.js';

const ADDRESS = '/ipv6/address';
const ROUTE = '/ipv6/route';
const NEIGHBOR = '/ipv6/neighbor';
const FILTER = '/ipv6/firewall/filter';
const NAT = '/ipv6/firewall/nat';
const LISTS = '/ipv6/firewall/address-list';

let router: Router;
beforeEach(async () => {
  router = await Router.start();
});
afterEach(() => router.close());

async function refused(menu: string, body: Record<string, string>): Promise<string> {
  const answer = await router.rest('PUT', menu, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(400);
  return answer.error.detail ?? '';
}

describe('an IPv6 address', () => {
  it('is advertised where hosts can make themselves addresses, unless that is switched off', async () => {
    const ids = [
      await router.add(ADDRESS, { address: '2001:DB8::1/64', interface: 'ether2' }),
      await router.add(ADDRESS, { address: '2001:db8:1::1/127', interface: 'ether2' }),
      await router.add(ADDRESS, { address: '2001:db8:2::1/64', interface: 'ether2', advertise: 'no' }),
      await router.add(ADDRESS, { address: '2001:db8:3::/64', interface: 'ether1', 'eui-64': 'yes' }),
    ];
    const rows = (await router.rest('GET', ADDRESS)).rows.filter((row) => ids.includes(row['.id'] ?? ''));
    expect(rows.map(({ address, advertise, 'eui-64': made }) => [address, advertise, made])).toEqual([
      ['2001:db8::1/64', 'true', 'false'],
      ['2001:db8:1::1/127', 'false', 'false'],
      ['2001:db8:2::1/64', 'false', 'false'],
      ['2001:db8:3::/64', 'true', 'true'],
    ]);
    const own = router.peer?.active?.addresses.filter(({ address }) => address.includes(':'));
    expect(own?.map(({ address, ipv6 }) => [address, ipv6?.advertise === true])).toEqual([
      ['2001:db8::1', true],
      ['2001:db8:1::1', false],
      ['2001:db8:2::1', false],
      ['2001:db8:3::', true],
    ]);
    // Another network is not told to hosts either where the former one was not to be told.
    const advertised = async (id: string | undefined, address: string) => {
      expect((await router.rest('PATCH', `${ADDRESS}/${id}`, { address })).status).toBe(200);
      return (await router.rest('GET', `${ADDRESS}/${id}`)).item?.advertise;
    };
    expect(await advertised(ids[2], '2001:db8:4::1/64')).toBe('false');
    expect(await advertised(ids[1], '2001:db8:1::1/64')).toBe('true');
  });

  it('is refused by name where it cannot work', async () => {
    await router.add(ADDRESS, { address: '2001:db8::1/64', interface: 'ether2' });
    await router.add(ADDRESS, { address: 'fe80::1/64', interface: 'ether2' });
    await router.add(ADDRESS, { address: 'fe80::1/64', interface: 'ether1' });
    for (const [body, reason] of [
      [{ address: '2001:db8::9' }, 'is not an IPv6 address with prefix length'],
      [{ address: '2001:db8::1/48' }, 'already have such address: 2001:db8::1'],
      [{ address: 'fe80::1/64' }, 'already have such address: fe80::1'],
      [{ address: '2001:db8:5::/64' }, 'is the subnet-router anycast address of its network'],
      [{ address: 'ff02::1/64' }, 'is a multicast address'],
      [{ address: '::1/128' }, 'is the loopback address'],
      [{ address: '::/64', 'eui-64': 'yes' }, 'is the unspecified address'],
      [{ address: '2001:db8:6::1/0' }, 'every address would be a neighbour'],
      [{ address: '2001:db8:6::/48', 'eui-64': 'yes' }, 'value of eui-64: with eui-64 the last 64 bits'],
      [
        { address: '2001:db8:6::1/48', advertise: 'yes' },
        'value of advertise: hosts make themselves addresses only in',
      ],
      [{ address: '2001:db8:6::1/64', 'from-pool': 'isp' }, 'from-pool'],
      [{ address: '2001:db8:6::1/64', interface: 'ether9' }, 'ether9'],
    ] as const) {
      expect(await refused(ADDRESS, { interface: 'ether2', ...body }), JSON.stringify(body)).toContain(reason);
    }
    expect((await router.rest('GET', ADDRESS)).rows).toHaveLength(3);
  });
});

describe('an IPv6 route', () => {
  it('leads to a gateway, by an interface, or nowhere', async () => {
    await router.add(ADDRESS, { address: '2001:db8::1/64', interface: 'ether2' });
    await router.add(ROUTE, { gateway: '2001:db8::2' });
    await router.add(ROUTE, { 'dst-address': '2001:db8:1::/48', gateway: 'FE80::2%ether1' });
    await router.add(ROUTE, { 'dst-address': '2001:db8:2::/48', blackhole: '' });
    expect(router.peer?.active?.routes.slice(-3).map(({ destination, target }) => [destination, target.kind])).toEqual([
      ['::', 'gateway'],
      ['2001:db8:1::', 'gateway'],
      ['2001:db8:2::', 'blackhole'],
    ]);
    const fe80 = { address: 'fe80::2', interface: expect.any(Number), table: null };
    await router.add(ROUTE, {
      'dst-address': '2001:db8:3::/48',
      gateway: '2001:db8::2, fe80::2%ether1',
      'check-gateway': 'ping',
    });
    expect(router.peer?.active?.routes.slice(-1)).toMatchObject([
      {
        target: { kind: 'gateways', gateways: [{ address: '2001:db8::2', interface: null, table: null }, fe80] },
        options: { scope: 30, 'target-scope': 10, 'check-gateway': 'ping' },
      },
    ]);
    await router.add(ROUTE, { 'dst-address': '2001:db8:4::/48', prohibit: '', 'pref-src': '2001:db8::1' });
    expect(router.peer?.active?.routes.slice(-1)).toMatchObject([
      { target: { kind: 'prohibit' }, 'pref-src': '2001:db8::1' },
    ]);
    // Interfaces keep their routes under another name.
    const port = (await router.rest('GET', '/interface')).rows.find(({ name }) => name === 'ether1');
    expect((await router.rest('PATCH', `/interface/${port?.['.id']}`, { name: 'uplink' })).status).toBe(200);
    expect((await router.rest('GET', ROUTE)).rows.map(({ gateway }) => gateway)).toContain('fe80::2%uplink');
  });

  it('is refused by name where it cannot work, and invalid by the own address as gateway', async () => {
    await router.add(ADDRESS, { address: '2001:db8::1/64', interface: 'ether2' });
    for (const [body, reason] of [
      [{}, 'gateway is required'],
      [{ gateway: '2001:db8::2', blackhole: '' }, 'either a gateway or blackhole'],
      [{ unreachable: '', prohibit: '' }, 'either prohibit or unreachable'],
      [{ gateway: '2001:db8::2,fe80::2' }, 'give fe80::2%interface'],
      [{ gateway: '2001:db8::2,' }, 'a next hop is missing after the comma'],
      [{ gateway: '10.0.0.1' }, '10.0.0.1 is not an IPv6 address'],
      [{ gateway: '2001:db8::2', 'check-gateway': 'bfd' }, 'value of check-gateway'],
      [{ gateway: 'fe80::2' }, 'give fe80::2%interface'],
      [{ gateway: 'ff02::2%ether1' }, 'is a multicast address'],
      [{ gateway: '2001:db8:::2' }, 'is not an IPv6 address, an interface name'],
      [{ 'dst-address': '2001:db8::5/64', gateway: '2001:db8::2' }, 'give 2001:db8::/64'],
      [{ gateway: 'ether9' }, 'ether9'],
    ] as const) {
      expect(await refused(ROUTE, { ...body }), JSON.stringify(body)).toContain(reason);
    }
    const own = await router.add(ROUTE, { gateway: '2001:db8::1' });
    const { item } = await router.rest('GET', `${ROUTE}/${own}`);
    expect(item).toMatchObject({ active: 'false', hint: 'gateway: 2001:db8::1 is an address of this router itself' });
  });
});

it('static neighbours are unicast, each once on its interface', async () => {
  await router.add(NEIGHBOR, { address: 'fe80::9', interface: 'ether1', 'mac-address': '02:00:00:00:00:09' });
  await router.add(NEIGHBOR, { address: 'fe80::9', interface: 'ether2', 'mac-address': '02:00:00:00:00:09' });
  const body = { interface: 'ether1', 'mac-address': '02:00:00:00:00:09' };
  expect(await refused(NEIGHBOR, { ...body, address: 'fe80::9' })).toContain('already have such entry');
  expect(await refused(NEIGHBOR, { ...body, address: 'ff02::1' })).toContain('is a multicast address');
  expect(await refused(NEIGHBOR, { ...body, address: 'fe80::7', 'mac-address': '01:00:00:00:00:09' })).toContain(
    'no unicast address',
  );
});

describe('rules of IPv6', () => {
  it('have addresses, lists and answers of their family', async () => {
    await router.add(LISTS, { list: 'bad', address: '2001:db8:bad::-2001:db8:bad::ff' });
    await router.add('/ip/firewall/address-list', { list: 'bad', address: '10.0.0.1' });
    await router.add(FILTER, { chain: 'forward', 'src-address-list': '!bad', action: 'accept' });
    await router.add(FILTER, {
      chain: 'forward',
      protocol: 'icmpv6',
      'icmp-options': '128',
      'hop-limit': 'less-than:64',
      'dst-address': '2001:db8::/32',
      action: 'reject',
      'reject-with': 'icmp-no-route',
    });
    const active = router.peer?.active;
    expect(active?.['ipv6-address-lists']).toContainEqual({
      name: 'bad',
      entries: [{ from: '2001:db8:bad::', to: '2001:db8:bad::ff' }],
    });
    const rules = active?.['ipv6-filter']?.find(({ name }) => name === 'forward')?.rules.slice(-1)[0];
    expect(rules?.matchers.map(({ kind }) => kind)).toEqual(['protocol', 'dst-address', 'hop-limit', 'icmp-options']);
    expect(rules?.action).toEqual({ kind: 'reject', with: 'icmp-no-route' });
    for (const [body, reason] of [
      [{ 'src-address': '10.0.0.0/8' }, 'is not an IPv6 address, a prefix'],
      [{ protocol: 'icmp', 'icmp-options': '8' }, 'only if protocol is icmpv6'],
      [{ action: 'reject', 'reject-with': 'icmp-host-unreachable' }, 'icmp-no-route'],
      [{ 'hop-limit': '64' }, 'equal, not-equal, less-than or greater-than'],
    ] as const) {
      expect(await refused(FILTER, { chain: 'forward', ...body }), JSON.stringify(body)).toContain(reason);
    }
  });

  it('translate to addresses of hosts, or from a prefix to another', async () => {
    await router.add(NAT, { chain: 'srcnat', action: 'masquerade', 'out-interface': 'ether1' });
    await router.add(NAT, {
      chain: 'dstnat',
      action: 'netmap',
      'dst-address': 'fd00::/64',
      'to-address': '2001:db8::/64',
    });
    const rules = router.peer?.active?.['ipv6-nat']?.flatMap(({ rules }) => rules.map(({ action }) => action));
    expect(rules).toEqual([
      { kind: 'masquerade', 'to-ports': null, 'randomise-ports': false },
      { kind: 'netmap', 'to-addresses': { from: '2001:db8::', to: '2001:db8::ffff:ffff:ffff:ffff' }, 'to-ports': null },
    ]);
    await router.add('/ip/firewall/nat', { chain: 'srcnat', action: 'netmap', 'to-addresses': '192.0.2.0/24' });
    const four = router.peer?.active?.nat.flatMap(({ rules }) => rules.map(({ action }) => action));
    expect(four).toContainEqual({
      kind: 'netmap',
      'to-addresses': { from: '192.0.2.0', to: '192.0.2.255' },
      'to-ports': null,
    });
    for (const [body, reason] of [
      [{}, 'to-addresses is required when action is netmap'],
      [{ 'to-addresses': '192.0.2.1-192.0.2.5' }, 'is no prefix; with netmap give one such as 192.0.2.0/24'],
      [{ 'to-addresses': '224.0.0.0/24' }, 'addresses of hosts'],
    ] as const) {
      const rule = { chain: 'srcnat', action: 'netmap', ...body };
      expect(await refused('/ip/firewall/nat', rule), JSON.stringify(body)).toContain(reason);
    }
    for (const [body, reason] of [
      [{ chain: 'dstnat', action: 'masquerade' }, 'works in chain srcnat only'],
      [{ chain: 'dstnat', action: 'dst-nat' }, 'to-address is required when action is dst-nat'],
      [{ chain: 'dstnat', action: 'dst-nat', 'to-address': 'ff02::1' }, 'has a multicast address'],
      [{ chain: 'srcnat', action: 'netmap' }, 'to-address is required when action is netmap'],
      [{ chain: 'srcnat', action: 'netmap', 'to-address': 'fd00::1-fd00::5' }, 'is no prefix'],
      [
        { chain: 'srcnat', action: 'src-nat', 'to-address': 'fd00::1', 'to-ports': '80' },
        'ports can be specified only',
      ],
    ] as const) {
      expect(await refused(NAT, { ...body }), JSON.stringify(body)).toContain(reason);
    }
  });

  it('do not share entries with a timeout with the lists of IPv4', async () => {
    const peer = router.peer;
    if (peer === undefined) throw new Error('no peer');
    const records = Buffer.alloc(64);
    for (const [at, family, address] of [
      [0, 4, '00000000000000000000ffff0a000007'],
      [32, 6, '20010db8000000000000000000000007'],
    ] as const) {
      records.set([family, family === 4 ? 32 : 128], at + 4);
      records.write(address, at + 8, 'hex');
      records.writeUInt32LE(60_000, at + 24);
    }
    peer.entries = { lists: ['seen'], records };
    await router.add(LISTS, { list: 'seen', address: '2001:db8::7', timeout: '1m' });
    expect(peer.asked.find(({ op }) => op === 'add-address-list-entries')).toMatchObject({
      entries: [{ list: 'seen', address: '2001:db8::7', 'prefix-len': 128 }],
    });
    const shown = async (menu: string) => (await router.rest('GET', menu)).rows.filter(({ list }) => list === 'seen');
    const [six, ...others] = await shown(LISTS);
    expect([six?.address, others.length]).toEqual(['2001:db8::7', 0]);
    expect((await shown('/ip/firewall/address-list')).map(({ address }) => address)).toEqual(['10.0.0.7']);
    const id = six?.['.id'] ?? '';
    expect((await router.rest('GET', `/ip/firewall/address-list/${id}`)).status).toBe(404);
    expect((await router.rest('DELETE', `/ip/firewall/address-list/${id}`)).status).toBe(404);
    expect((await router.rest('DELETE', `${LISTS}/${id}`)).status).toBe(204);
  });
});

it('settings reach the data plane when they differ from its own', async () => {
  expect(router.peer?.active?.settings.ipv6).toBeUndefined();
  expect((await router.rest('POST', '/ipv6/settings/set', { forward: 'no' })).status).toBe(200);
  expect(router.peer?.active?.settings.ipv6).toMatchObject({ forward: false, 'disable-ipv6': false });
  const more = { forward: 'yes', 'multipath-hash-policy': 'l4', 'disable-link-local-address': 'yes' };
  expect((await router.rest('POST', '/ipv6/settings/set', more)).status).toBe(200);
  expect(router.peer?.active?.settings.ipv6).toEqual({
    'disable-ipv6': false,
    forward: true,
    'max-neighbor-entries': 8192,
    'multipath-hash': 'l4',
    'disable-link-local-address': true,
  });
  const back = { 'multipath-hash-policy': 'l3', 'disable-link-local-address': 'no' };
  expect((await router.rest('POST', '/ipv6/settings/set', back)).status).toBe(200);
  expect(router.peer?.active?.settings.ipv6).toBeUndefined();
  const others = { 'multipath-hash-policy': 'l3-inner', 'allow-fast-path': 'no' };
  expect((await router.rest('POST', '/ipv6/settings/set', others)).status).toBe(200);
  expect(router.peer?.active?.settings).toMatchObject({
    'allow-fast-path': true,
    ipv6: { 'multipath-hash': 'l3-inner', 'allow-fast-path': false },
  });
  expect(router.peer?.active?.settings['multipath-hash']).toBeUndefined();
  await router.rest('POST', '/ipv6/settings/set', { 'multipath-hash-policy': 'l3', 'allow-fast-path': 'yes' });
  await router.rest('POST', '/ip/settings/set', { 'ipv4-multipath-hash-policy': 'l3-inner' });
  expect(router.peer?.active?.settings).toMatchObject({ 'multipath-hash': 'l3-inner' });
  expect(router.peer?.active?.settings.ipv6).toBeUndefined();
  await router.rest('POST', '/ip/settings/set', { 'ipv4-multipath-hash-policy': 'l3' });
});

describe('the router as a host', () => {
  const set = async (values: Record<string, string>) => {
    const answer = await router.rest('POST', '/ipv6/settings/set', values);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return router.peer?.active?.settings.ipv6;
  };
  const rowOf = (name: string) => router.peer?.active?.interfaces.find((each) => each.name === name)?.row;

  it('takes advertisements and redirects when it is told so, or by default while it forwards nothing', async () => {
    const all = [rowOf('ether1'), rowOf('ether2'), rowOf('ether3')].filter((row) => row !== undefined);
    const both = { 'accept-redirects': true, 'accept-advertisements-on': expect.arrayContaining(all) };
    expect(await set({ forward: 'no' })).toMatchObject(both);
    expect(await set({ 'accept-redirects': 'no', 'accept-router-advertisements': 'no' })).toEqual({
      'disable-ipv6': false,
      forward: false,
      'max-neighbor-entries': 8192,
    });
    expect(await set({ forward: 'yes', 'accept-redirects': 'yes' })).toMatchObject({ 'accept-redirects': true });
    await router.add('/interface/list', { name: 'uplinks' });
    await router.add('/interface/list/member', { list: 'uplinks', interface: 'ether2' });
    const some = { 'accept-router-advertisements': 'yes', 'accept-router-advertisements-on': 'uplinks' };
    expect((await set(some))?.['accept-advertisements-on']).toEqual([rowOf('ether2')]);
    await set({ 'accept-router-advertisements': 'yes-if-forwarding-disabled' });
    expect(router.peer?.active?.settings.ipv6?.['accept-advertisements-on']).toBeUndefined();
    const list = (await router.rest('GET', '/interface/list')).rows.find(({ name }) => name === 'uplinks');
    expect(
      await router.refused('POST', '/ipv6/settings/set', { 'accept-router-advertisements-on': 'none-such' }),
    ).toMatch(/accept-router-advertisements-on.*none-such/);
    expect((await router.rest('DELETE', `/interface/list/${list?.['.id']}`)).error.detail).toMatch(/\/ipv6\/settings/);
    expect(await router.refused('POST', '/ipv6/settings/set', { 'accept-redirects': 'maybe' })).toMatch(
      /accept-redirects.*yes-if-forwarding-disabled/,
    );
  });

  it('keeps neighbours as it is told, by limits that are in order', async () => {
    expect(await set({ 'stale-neighbor-timeout': '90', 'min-neighbor-entries': '100' })).toMatchObject({
      'neighbor-collection': {
        'stale-timeout-s': 90,
        'detect-interval-s': 30,
        'min-entries': 100,
        'soft-max-entries': 4096,
      },
    });
    expect(await set({ 'stale-neighbor-timeout': '60', 'min-neighbor-entries': '2048' })).toBeUndefined();
    for (const [body, reason] of [
      [
        { 'min-neighbor-entries': '5000' },
        'min-neighbor-entries: 5000 is more than soft-max-neighbor-entries; give 0..4096',
      ],
      [{ 'soft-max-neighbor-entries': '100' }, 'soft-max-neighbor-entries: 100 is less than min-neighbor-entries'],
      [{ 'max-neighbor-entries': '4000' }, 'max-neighbor-entries: 4000 is less than soft-max-neighbor-entries'],
      [{ 'stale-neighbor-timeout': '0' }, 'stale-neighbor-timeout'],
    ] as const) {
      expect(await router.refused('POST', '/ipv6/settings/set', body), JSON.stringify(body)).toContain(reason);
    }
  });

  it('has addresses of advertised networks, with the time that is left of them', async () => {
    if (router.peer === undefined) throw new Error('no peer');
    const ether1 = rowOf('ether1') ?? 0;
    const info = { interface: ether1, 'prefix-len': 64, state: 'preferred' } as const;
    router.peer.ipv6Addresses = [
      { ...info, row: 0, address: 'fe80::1' },
      {
        ...info,
        row: FIRST_AUTOCONFIGURED_ROW,
        address: '2001:db8:7::1',
        lifetimes: { 'valid-s': 7_200, 'preferred-s': 3_600 },
      },
      {
        ...info,
        row: FIRST_AUTOCONFIGURED_ROW + 1,
        address: '2001:db8:8::1',
        lifetimes: { 'preferred-s': 0 },
      },
    ];
    const { rows } = await router.rest('GET', ADDRESS);
    const dynamic = rows.filter((row) => row.dynamic === 'true');
    expect(dynamic).toMatchObject([
      { address: 'fe80::1/64', 'link-local': 'true', interface: 'ether1' },
      {
        address: '2001:db8:7::1/64',
        valid: '2h',
        preferred: '1h',
        deprecated: 'false',
        global: 'true',
        'eui-64': 'true',
      },
      { address: '2001:db8:8::1/64', valid: 'forever', preferred: '0s', deprecated: 'true', interface: 'ether1' },
    ]);
    expect(new Set(dynamic.map((row) => row['.id'])).size).toBe(3);
    const second = dynamic[1]?.['.id'] ?? '';
    expect((await router.rest('GET', `${ADDRESS}/${second}`)).item.address).toBe('2001:db8:7::1/64');
    expect((await router.rest('DELETE', `${ADDRESS}/${second}`)).status).not.toBe(204);
  });
});

describe('connections of IPv6', () => {
  const [FOUR, SIX] = ['/ip/firewall/connection', '/ipv6/firewall/connection'];
  const at = connectionRecord;

  /** A connection of TCP from port 40000 to port 443, between addresses of 16 bytes in hexadecimal digits. */
  function record(id: number, family: 4 | 6, source: string, destination: string): Buffer {
    const bytes = Buffer.alloc(at.size);
    bytes.writeBigUInt64LE(BigInt(id), at.id);
    bytes.set([6, family], at.protocol);
    bytes.write(source, at.srcAddress, 'hex');
    bytes.write(destination, at.dstAddress, 'hex');
    bytes.writeUInt16LE(40_000, at.srcPort);
    bytes.writeUInt16LE(443, at.dstPort);
    return bytes;
  }

  const low = '20010db8000000000000000000000001';
  const high = '20010db8000000000000000000000002';
  const four = '00000000000000000000ffff0a000001';

  beforeEach(() => {
    if (router.peer === undefined) throw new Error('no peer');
    router.peer.connections = Buffer.concat([
      record(5, 6, high, low),
      record(6, 4, four, four),
      record(7, 6, low, high),
    ]);
  });

  it('have a list of their own, in which they are found, sorted and ended', async () => {
    const sources = async (path: string) =>
      (await router.rest('GET', path)).rows.map((row) => [row['.id'], row['src-address']]);
    expect(await sources(FOUR)).toEqual([['*6', '10.0.0.1:40000']]);
    expect(await sources(SIX)).toEqual([
      ['*5', '[2001:db8::2]:40000'],
      ['*7', '[2001:db8::1]:40000'],
    ]);
    expect(await sources(`${SIX}?src-address=[2001:DB8::1]:40000`)).toEqual([['*7', '[2001:db8::1]:40000']]);
    expect((await router.rest('GET', `${SIX}/*7`)).item).toMatchObject({ 'dst-address': '[2001:db8::2]:443' });
    for (const [menu, id] of [
      [SIX, '*6'],
      [FOUR, '*7'],
    ]) {
      expect((await router.rest('GET', `${menu}/${id}`)).status).toBe(404);
      expect((await router.rest('DELETE', `${menu}/${id}`)).status).toBe(404);
    }
    expect((await router.rest('DELETE', `${SIX}/*7`)).status).toBe(204);
    expect(router.peer?.asked.filter(({ op }) => op === 'remove-connections').map(({ ids }) => ids)).toEqual([[7]]);
  });

  it('are in the order of all bits of their addresses', () => {
    const kind = menuByPath(SIX)?.props['src-address']?.kind;
    const sorted = ['2001:db8::1', '[2001:db8::1]:80', '[2001:db8::1]:443', '[2001:db8::2]:1', '[fe80::]:1'];
    expect([...sorted].reverse().sort(kind?.compare)).toEqual(sorted);
    expect(kind?.range?.('[2001:db8::1]:443')).toEqual(kind?.range?.('2001:db8::1'));
  });
});
