import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AgentPeer } from './agent-peer.js';
import { Client } from './live-client.js';
import { longestTurn, MAX_MS } from './longest-turn.js';
import { LONG_WRITES, Router } from './router.js';

const ROUTES = '/ip/route';
const RECORD = 28;
const ACTIVE = 1;
const CONNECTED = 2;
const STATIC = 4;
const BLACKHOLE = 8;
const UNREACHABLE = 16;
const PROHIBIT = 32;
const MULTIPATH = 64;
const ECMP = 128;
const FURTHER = 256;
const BGP = 186;

interface Route {
  readonly destination: number;
  readonly length?: number;
  readonly flags?: number;
  readonly distance?: number;
  readonly protocol?: number;
  readonly gateway?: number;
  readonly interface?: number;
  readonly row?: number;
  readonly metric?: number;
  readonly table?: number;
}

function pack(records: Buffer, place: number, route: Route): void {
  const { destination, length = 24, flags = ACTIVE, distance = 20, protocol = BGP } = route;
  const at = place * RECORD;
  records.writeUInt32LE(destination, at);
  records.set([length, distance], at + 4);
  records.writeUInt16LE(flags, at + 6);
  records.writeUInt16LE(protocol, at + 8);
  records.writeUInt16LE(route.table ?? 0, at + 10);
  records.writeUInt32LE(route.gateway ?? 0, at + 12);
  records.writeUInt32LE(route.interface ?? 0, at + 16);
  records.writeUInt32LE(route.row ?? 0, at + 20);
  records.writeUInt32LE(route.metric ?? 0, at + 24);
}

/** Records as `ReplyBody::Routes` documents them. */
function packed(routes: readonly Route[]): Buffer {
  const records = Buffer.alloc(routes.length * RECORD);
  for (const [place, route] of routes.entries()) pack(records, place, route);
  return records;
}

const GATEWAY = 0x0a02_0002;
const NO_WAY =
  'the gateway 10.99.0.1 is in none of the networks that the router has an address in, and no other route with a ' +
  'scope of at most 10 leads to it';

let router: Router;
let peer: AgentPeer;
/** Rows of ether1, of an address and of a static route. */
let port = 0;
let address = 0;
let route = 0;
const rowOf = (id: string): number => Number.parseInt(id.slice(1), 16);

beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
  if (router.peer === undefined) throw new Error('no peer');
  peer = router.peer;
  port = rowOf((await router.rest('GET', '/interface/ether1')).id);
  address = rowOf((await router.rest('PUT', '/ip/address', { address: '10.2.0.1/24', interface: 'ether1' })).id);
  route = rowOf((await router.rest('PUT', ROUTES, { 'dst-address': '10.64.0.0/10', gateway: '10.2.0.2' })).id);
});
afterAll(() => router.close());

const own = (): Route[] => [
  {
    destination: 0x0a02_0000,
    flags: ACTIVE | CONNECTED,
    distance: 0,
    protocol: 0,
    interface: port,
    row: address,
  },
  {
    destination: 0x0a40_0000,
    length: 10,
    flags: ACTIVE | STATIC,
    distance: 1,
    protocol: 0,
    gateway: GATEWAY,
    interface: port,
    row: route,
  },
];
const bgp = (destination: number, more: Partial<Route> = {}): Route => ({
  destination,
  gateway: GATEWAY,
  interface: port,
  metric: 7,
  ...more,
});

beforeEach(() => {
  peer.asked.length = 0;
});

describe('routes', () => {
  it('are the configured ones with their state, connected ones and those of other programs', async () => {
    peer.routes = packed([
      ...own(),
      bgp(0x2000_0000),
      bgp(0x2000_0100, { flags: BLACKHOLE, gateway: 0, interface: 0, protocol: 188 }),
    ]);
    const { rows } = await router.rest('GET', ROUTES);
    expect(rows).toEqual([
      {
        '.id': `*${route.toString(16).toUpperCase()}`,
        'dst-address': '10.64.0.0/10',
        gateway: '10.2.0.2',
        'immediate-gw': '10.2.0.2%ether1',
        distance: '1',
        scope: '30',
        'target-scope': '10',
        'routing-table': 'main',
        disabled: 'false',
        dynamic: 'false',
        static: 'true',
        active: 'true',
        inactive: 'false',
      },
      {
        '.id': `*${(0x8000_0000 + address).toString(16).toUpperCase()}`,
        'dst-address': '10.2.0.0/24',
        gateway: 'ether1',
        'immediate-gw': 'ether1',
        distance: '0',
        'routing-table': 'main',
        disabled: 'false',
        dynamic: 'true',
        active: 'true',
        inactive: 'false',
        connect: 'true',
      },
      {
        '.id': '*800000182000000000000007',
        'dst-address': '32.0.0.0/24',
        gateway: '10.2.0.2',
        'immediate-gw': '10.2.0.2%ether1',
        distance: '20',
        'routing-table': 'main',
        disabled: 'false',
        dynamic: 'true',
        active: 'true',
        inactive: 'false',
        bgp: 'true',
      },
      {
        '.id': '*800000182000010000000007',
        'dst-address': '32.0.1.0/24',
        distance: '20',
        'routing-table': 'main',
        blackhole: 'true',
        disabled: 'false',
        dynamic: 'true',
        active: 'false',
        inactive: 'true',
        ospf: 'true',
      },
    ]);
    expect((await router.rest('GET', `${ROUTES}?bgp=yes`)).rows).toEqual([rows[2]]);
    expect((await router.rest('GET', `${ROUTES}?ospf=no&dynamic=yes`)).rows).toEqual([rows[1], rows[2]]);
    for (const row of rows) {
      const { '.id': id = '' } = row;
      expect((await router.rest('GET', `${ROUTES}/${id}`)).item).toEqual(row);
    }
    const refused = await router.rest('DELETE', `${ROUTES}/${rows[2]?.['.id']}`);
    expect(refused.error.detail).toMatch(/^failure: .*dynamic/);
    expect((await router.rest('GET', `${ROUTES}/*800000182000000000000008`)).status).toBe(404);
  });

  it('that RouterOS has no properties for say in the hint what they are', async () => {
    const nowhere = { gateway: 0, interface: 0 };
    peer.routes = packed([
      ...own(),
      bgp(0x2000_0000, { flags: ACTIVE | BLACKHOLE, ...nowhere }),
      bgp(0x2000_0100, { flags: ACTIVE | UNREACHABLE, ...nowhere }),
      bgp(0x2000_0200, { flags: ACTIVE | PROHIBIT, ...nowhere }),
      bgp(0x2000_0300, { flags: ACTIVE | MULTIPATH }),
    ]);
    const { rows } = await router.rest('GET', `${ROUTES}?bgp=yes`);
    expect(rows.map(({ unreachable, prohibit }) => [unreachable, prohibit])).toEqual([
      [undefined, undefined],
      ['true', undefined],
      [undefined, 'true'],
      [undefined, undefined],
    ]);
    expect(rows.map(({ blackhole, active, hint }) => [blackhole, active, hint])).toEqual([
      ['true', 'true', undefined],
      [undefined, 'true', undefined],
      [undefined, 'true', undefined],
      [undefined, 'true', 'of the several next hops of this route only the first is used'],
    ]);
  });

  it('with several next hops name all that are used, and share flows with routes of the same distance', async () => {
    const values = { 'dst-address': '10.28.0.0/24', gateway: '10.2.0.2, 10.2.0.3', 'check-gateway': 'ping' };
    const both = await router.rest('PUT', ROUTES, values);
    expect(both).toMatchObject({ status: 201, item: { gateway: '10.2.0.2,10.2.0.3', 'check-gateway': 'ping' } });
    const third = await router.rest('PUT', ROUTES, { 'dst-address': '10.28.0.0/24', gateway: '10.2.0.4' });
    const hop = (row: string, last: number, more: number): Route => ({
      destination: 0x0a1c_0000,
      flags: ACTIVE | STATIC | ECMP | more,
      distance: 1,
      protocol: 0,
      gateway: 0x0a02_0000 + last,
      interface: port,
      row: rowOf(row),
    });
    peer.routes = packed([
      ...own(),
      hop(both.id, 2, 0),
      hop(both.id, 3, FURTHER),
      hop(third.id, 4, 0),
      bgp(0x2000_0000),
    ]);
    const { rows } = await router.rest('GET', ROUTES);
    expect(rows.map((row) => [row.ecmp, row['immediate-gw']])).toEqual([
      [undefined, '10.2.0.2%ether1'],
      ['true', '10.2.0.2%ether1,10.2.0.3%ether1'],
      ['true', '10.2.0.4%ether1'],
      [undefined, 'ether1'],
      [undefined, '10.2.0.2%ether1'],
    ]);
    for (const { id } of [both, third]) await router.rest('DELETE', `${ROUTES}/${id}`);
  });

  it('that lead to their own gateways say so', async () => {
    const put = async (dst: string, gateway: string) =>
      (await router.rest('PUT', ROUTES, { 'dst-address': dst, gateway, scope: '10' })).id;
    const [one, other] = [await put('10.40.0.0/24', '10.41.0.1'), await put('10.41.0.0/24', '10.40.0.1')];
    const unused = (destination: number, id: string): Route => ({
      destination,
      flags: STATIC,
      distance: 1,
      protocol: 0,
      row: rowOf(id),
    });
    peer.routes = packed([...own(), unused(0x0a28_0000, one), unused(0x0a29_0000, other)]);
    const hint = async (id: string) => (await router.rest('GET', `${ROUTES}/${id}`)).item.hint;
    expect(await hint(one)).toBe('recursion loop: the gateway is looked up by the route itself, through 10.41.0.0/24');
    for (const id of [one, other]) await router.rest('DELETE', `${ROUTES}/${id}`);
  });

  it('refuse what excludes each other, by name', async () => {
    const put = async (values: Record<string, string>) =>
      (await router.rest('PUT', ROUTES, { 'dst-address': '10.29.0.0/24', ...values })).error;
    expect(await put({ gateway: '10.2.0.2', prohibit: '' })).toMatchObject({
      message: 'Bad Request',
      detail: 'value of prohibit: a route has either a gateway or prohibit; unset one of them',
    });
    expect((await put({ unreachable: '', blackhole: '' })).detail).toContain('either unreachable or blackhole');
    expect((await put({ gateway: '10.2.0.2,255.255.255.255' })).detail).toContain('value of gateway: 255.255.255.255');
    expect((await put({ gateway: '10.2.0.2', 'check-gateway': 'bfd' })).detail).toContain('none, arp, ping');
  });

  it('keep their ids while others come and go', async () => {
    const [first, second, third] = [bgp(0x2000_0000), bgp(0x2000_0100), bgp(0x2000_0100, { metric: 9, flags: 0 })];
    const ids = async (routes: readonly Route[]) => {
      peer.routes = packed([...own(), ...routes]);
      const { rows } = await router.rest('GET', `${ROUTES}?bgp=yes`);
      return new Map(rows.map((row) => [`${row['dst-address']} ${row.active}`, row['.id']]));
    };
    const before = await ids([first, second, third]);
    expect(new Set(before.values()).size).toBe(3);
    const after = await ids([third, { ...second, gateway: GATEWAY + 1 }]);
    expect(after.size).toBe(2);
    for (const [key, id] of after) expect(id).toBe(before.get(key));
  });

  it('that are configured and not used tell why', async () => {
    const put = async (dst: string, gateway: string) =>
      rowOf((await router.rest('PUT', ROUTES, { 'dst-address': dst, gateway })).id);
    const unused = (destination: number, row: number, more: Partial<Route> = {}): Route => ({
      destination,
      length: 24,
      flags: STATIC,
      distance: 1,
      protocol: 0,
      row,
      ...more,
    });
    const [far, down, worse, out, mine, everybody] = [
      await put('10.20.0.0/24', '10.99.0.1'),
      await put('10.21.0.0/24', '10.3.0.9'),
      await put('10.22.0.0/24', '10.2.0.3'),
      await put('10.23.0.0/24', 'ether2'),
      await put('10.24.0.0/24', '10.2.0.1'),
      await put('10.25.0.0/24', '10.3.0.255'),
    ];
    const [network, configured] = own();
    const without: Route = { destination: 0x0a03_0000, flags: CONNECTED, interface: port, row: address + 1000 };
    peer.routes = packed([
      ...(network ? [network] : []),
      without,
      ...(configured ? [configured] : []),
      unused(0x0a14_0000, far),
      unused(0x0a15_0000, down),
      unused(0x0a16_0000, worse, { gateway: 0x0a02_0003, interface: port }),
      unused(0x0a17_0000, out),
      unused(0x0a18_0000, mine),
      unused(0x0a19_0000, everybody),
    ]);
    const { rows } = await router.rest('GET', `${ROUTES}?static=yes`);
    expect(rows.map(({ inactive, hint }) => [inactive, hint])).toEqual([
      ['false', undefined],
      ['true', NO_WAY],
      ['true', 'the interface ether1, behind which the gateway 10.3.0.9 is, has no link or is disabled'],
      ['true', 'another route to 10.22.0.0/24 is preferred'],
      ['true', 'the interface ether2 has no link or is disabled'],
      ['true', 'the gateway 10.2.0.1 is an address of this router'],
      ['true', 'the gateway 10.3.0.255 is the broadcast address of 10.3.0.0/24'],
    ]);
    for (const row of rows.slice(1)) await router.rest('DELETE', `${ROUTES}/${row['.id']}`);
  });

  it('that cannot work at all tell why', async () => {
    const put = async (more: Record<string, string>) =>
      (await router.rest('PUT', ROUTES, { 'dst-address': '10.26.0.0/24', gateway: '10.2.0.2', ...more })).id;
    const foreign = await put({ 'pref-src': '10.9.9.9' });
    const mine = await put({ gateway: '10.2.0.1' });
    // The data plane has not been given them.
    peer.routes = packed(own());
    const read = async (id: string) => (await router.rest('GET', `${ROUTES}/${id}`)).item;
    const noSource = 'pref-src: 10.9.9.9 is no enabled address of this router; give one of those, or unset it';
    expect(await read(foreign)).toMatchObject({
      active: 'false',
      inactive: 'true',
      '.about': noSource,
      hint: noSource,
    });
    expect(await read(mine)).toMatchObject({
      inactive: 'true',
      hint: 'gateway: 10.2.0.1 is an address of this router itself',
    });
    const { rows } = await router.rest('POST', `${ROUTES}/print`, { '.query': [`hint=${noSource}`] });
    expect(rows.map((row) => row['.id'])).toEqual([foreign]);

    // With the address there is nothing to hint at; nor is there of a route that is switched off.
    const address = await router.rest('PUT', '/ip/address', { address: '10.9.9.9/24', interface: 'ether2' });
    expect(await read(foreign)).not.toHaveProperty('hint');
    await router.rest('DELETE', `/ip/address/${address.id}`);
    await router.rest('PATCH', `${ROUTES}/${foreign}`, { disabled: 'yes' });
    expect(await read(foreign)).not.toHaveProperty('hint');
    for (const id of [foreign, mine]) await router.rest('DELETE', `${ROUTES}/${id}`);
  });

  it('of VRFs are in their tables, and know the addresses of their own VRF alone', async () => {
    const vrf = (await router.rest('PUT', '/ip/vrf', { name: 'blue', interfaces: 'ether2' })).id;
    const port2 = rowOf((await router.rest('GET', '/interface/ether2')).id);
    const address2 = (await router.rest('PUT', '/ip/address', { address: '10.8.0.1/24', interface: 'ether2' })).id;
    const put = async (more: Record<string, string>) =>
      (await router.rest('PUT', ROUTES, { 'dst-address': '10.28.0.0/24', ...more })).id;
    // Addresses of the router in the other VRF.
    const far = await put({ gateway: '10.2.0.1', 'routing-table': 'blue' });
    const near = await put({ gateway: '10.8.0.1', distance: '2' });
    const mine = await put({ gateway: '10.8.0.1', 'routing-table': 'blue', distance: '3' });
    const unused = (row: string, table: number): Route => ({
      destination: 0x0a1c_0000,
      flags: STATIC,
      distance: 1,
      protocol: 0,
      row: rowOf(row),
      table,
    });
    const learned = { destination: 0x2000_0000, gateway: GATEWAY, metric: 7 };
    const [network, configured] = own();
    peer.routes = packed([
      ...(network ? [network] : []),
      { destination: 0x0a08_0000, flags: CONNECTED | ACTIVE, interface: port2, row: rowOf(address2), table: 1 },
      ...(configured ? [configured] : []),
      unused(near, 0),
      unused(far, 1),
      { ...learned, interface: port },
      { ...learned, interface: port2, table: 1 },
    ]);
    const read = async (id: string) => (await router.rest('GET', `${ROUTES}/${id}`)).item;
    expect((await read(far)).hint).toContain('the gateway 10.2.0.1 is in none of the networks of the VRF blue that');
    expect((await read(near)).hint).toContain('the gateway 10.8.0.1 is in none of the networks');
    expect((await read(mine)).hint).toContain('is an address of this router');
    const { rows } = await router.rest('GET', `${ROUTES}?dynamic=yes`);
    const shown = rows.filter((row) => ['10.8.0.0/24', '32.0.0.0/24'].includes(row['dst-address'] ?? ''));
    expect(shown.map((row) => row['routing-table'])).toEqual(['blue', 'main', 'blue']);
    for (const row of shown) expect(await read(row['.id'] ?? '')).toEqual(row);
    for (const id of [far, near, mine]) await router.rest('DELETE', `${ROUTES}/${id}`);
    await router.rest('DELETE', `/ip/address/${address2}`);
    await router.rest('DELETE', `/ip/vrf/${vrf}`);
  });

  it('by an address of a disabled interface do not take it for an address of the router', async () => {
    const id = async (path: string, values: Record<string, string>) => (await router.rest('PUT', path, values)).id;
    const address2 = await id('/ip/address', { address: '10.4.0.1/24', interface: 'ether2' });
    const route2 = await id(ROUTES, { 'dst-address': '10.27.0.0/24', gateway: '10.4.0.1' });
    const port2 = rowOf((await router.rest('GET', '/interface/ether2')).id);
    const [network, configured] = own();
    peer.routes = packed([
      ...(network ? [network] : []),
      { destination: 0x0a04_0000, flags: CONNECTED, interface: port2, row: rowOf(address2) },
      ...(configured ? [configured] : []),
      { destination: 0x0a1b_0000, flags: STATIC, distance: 1, protocol: 0, row: rowOf(route2) },
    ]);
    const hint = async () => (await router.rest('GET', `${ROUTES}/${route2}`)).item.hint;
    expect(await hint()).toBe('the gateway 10.4.0.1 is an address of this router');
    await router.rest('POST', '/interface/disable', { numbers: 'ether2' });
    expect(await hint()).toBe('the interface ether2, behind which the gateway 10.4.0.1 is, has no link or is disabled');
    await router.rest('POST', '/interface/enable', { numbers: 'ether2' });
    await router.rest('DELETE', `${ROUTES}/${route2}`);
    await router.rest('DELETE', `/ip/address/${address2}`);
  });

  it('lie in networks that a query or a window names', async () => {
    peer.routes = packed([
      ...own(),
      bgp(0x0a40_0100),
      bgp(0x0b00_0000, { length: 8 }),
      bgp(0x0800_0000, { length: 5 }),
    ]);
    const inside = async (word: string) =>
      (await router.rest('POST', `${ROUTES}/print`, { '.query': [word] })).rows.map((row) => row['dst-address']);
    expect(await inside('dst-address in 10.0.0.0/8')).toEqual(['10.64.0.0/10', '10.2.0.0/24', '10.64.1.0/24']);
    expect(await inside('dst-address in 10.64.0.0/16,11.0.0.0-12.0.0.0')).toEqual(['10.64.1.0/24', '11.0.0.0/8']);
    expect(await inside('distance in 1-5,7')).toEqual(['10.64.0.0/10']);
    expect(await inside('colour in 10.0.0.0/8')).toEqual([]);
    const refused = await router.rest('POST', `${ROUTES}/print`, { '.query': ['dst-address in here'] });
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.error.detail).toContain('here is no address');
    const client = await Client.open(router.url);
    const filter = { 'dst-address': { op: 'in-not', value: '10.0.0.0/8' } };
    client.send({
      op: 'subscribe',
      id: 1,
      topic: 'menu',
      menu: ROUTES,
      filter,
      sort: { by: 'dst-address', desc: true },
    });
    const { rows } = await client.next((message) => message.op === 'snapshot');
    client.socket.close();
    expect((rows as Record<string, string>[]).map((row) => row['dst-address'])).toEqual(['11.0.0.0/8', '8.0.0.0/5']);
  });

  it('are in one order by address and length, whoever made them', async () => {
    peer.routes = packed([...own(), bgp(0x0a40_0000, { length: 16 }), bgp(0x0a40_0000, { length: 11 })]);
    const client = await Client.open(router.url);
    const filter = { 'dst-address': { op: 'in', value: '10.64.0.0/10' } };
    let id = 0;
    const ordered = async (desc: boolean) => {
      id += 1;
      client.send({ op: 'subscribe', id, topic: 'menu', menu: ROUTES, filter, sort: { by: 'dst-address', desc } });
      const { rows } = await client.next((message) => message.op === 'snapshot' && message.id === id);
      return (rows as Record<string, string>[]).map((row) => row['dst-address']);
    };
    const all = ['10.64.0.0/10', '10.64.0.0/11', '10.64.0.0/16'];
    // A window may be given a reading of the last second, with the routes of before.
    await expect.poll(() => ordered(false), { timeout: 30_000 }).toEqual(all);
    expect(await ordered(true)).toEqual(all.toReversed());
    client.socket.close();
  });
});

describe('a million routes', () => {
  const COUNT = 1_000_000;
  beforeAll(() => {
    const records = Buffer.alloc((COUNT + 2) * RECORD);
    for (const [place, known] of own().entries()) pack(records, place, known);
    // Prefixes from 1.0.0.0 on; every 64th is of another protocol.
    for (let at = 0; at < COUNT; at += 1) {
      const more = { length: 28, ...(at % 64 === 0 && { protocol: 188 }) };
      pack(records, at + 2, bgp(0x0100_0000 + at * 256, more));
    }
    peer.routes = records;
  });
  afterAll(() => {
    peer.routes = Buffer.alloc(0);
  });

  /** CPU time of this process, ms: a machine that is busy with other things makes it not more. */
  const workedMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };

  const count = async (...query: string[]) =>
    (await router.rest('POST', `${ROUTES}/print`, { 'count-only': '', '.query': query })).item.ret;

  it('are counted, all of them and those that a query names', async () => {
    expect(await count()).toBe(String(COUNT + 2));
    expect(await count('bgp=yes')).toBe(String(COUNT - Math.ceil(COUNT / 64)));
    expect(await count('ospf=yes')).toBe(String(Math.ceil(COUNT / 64)));
    // 65,536 of the prefixes, the network of the address, and the static route.
    const times: number[] = [];
    for (let tries = 0; tries < 3 && Math.min(...times, Number.POSITIVE_INFINITY) >= 5_000; tries += 1) {
      const before = workedMs();
      expect(await count('dst-address in 10.0.0.0/8')).toBe('65538');
      times.push(workedMs() - before);
    }
    expect(Math.min(...times)).toBeLessThan(5_000);
    const { rows } = await router.rest('POST', `${ROUTES}/print`, { '.query': ['dst-address=16.66.63.0/28'] });
    expect(rows).toMatchObject([{ '.id': '*8000001C10423F0000000007' }]);
    expect((await router.rest('GET', `${ROUTES}/*8000001C10423F0000000007`)).item).toEqual(rows[0]);
  });

  it('are all listed', async () => {
    const authorization = `Basic ${Buffer.from('admin:correct horse').toString('base64')}`;
    const response = await fetch(`${router.url}/rest/ip/route?.proplist=.id`, { headers: { authorization } });
    let items = 0;
    const brace = '{'.charCodeAt(0);
    for await (const chunk of response.body ?? []) items += chunk.filter((byte: number) => byte === brace).length;
    expect(items).toBe(COUNT + 2);
  });

  it('are filtered and sorted for a window without holding up others', async () => {
    const client = await Client.open(router.url);
    const snapshot = () => client.next((message) => message.op === 'snapshot', 120_000);
    client.send({ op: 'subscribe', id: 1, topic: 'menu', menu: ROUTES, first: 0, count: 10 });
    expect(await snapshot()).toMatchObject({ total: COUNT + 2, matched: COUNT + 2 });
    const filter = { 'dst-address': { op: 'in', value: '10.0.0.0/8' } };
    const windows = [{ filter, sort: { by: 'dst-address', desc: true } }, { filter: null }];
    const { result, ms } = await longestTurn(async () => {
      const shown = [];
      for (const window of windows) {
        client.send({ op: 'window', id: 1, ...window });
        shown.push(await snapshot());
      }
      return shown;
    }, 4);
    client.socket.close();
    expect(result).toMatchObject([
      { total: COUNT + 2, matched: 65_538, rows: Array.from({ length: 10 }, () => expect.anything()) },
      { total: COUNT + 2, matched: COUNT + 2 },
    ]);
    const [filtered, whole] = result.map(({ rows }) => (rows as Record<string, string>[])[0]);
    expect(filtered).toMatchObject({ 'dst-address': '10.255.255.0/28' });
    expect(whole).toMatchObject({ 'dst-address': '16.66.63.0/28' });
    // 20 are usual.
    expect(ms).toBeLessThan(MAX_MS);
  });

  it('are asked about one by one in a dry run', async () => {
    peer.routeTo = () => ({ local: false, interface: port });
    await router.rest('POST', '/tool/packet-trace/dry-run', { packet: '1.2.3.4 -> 5.6.7.8' });
    const asked = peer.asked.map((body) => body.op);
    expect(asked).toContain('route-to');
    expect(asked).not.toContain('routes');
    expect(peer.asked.find((body) => body.op === 'dry-run')?.packet).toMatchObject({ 'in-interface': port });
  });
});
