import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Router } from './router.js';

/** What the menus of interfaces, addresses, routes, tables and VRFs refuse, with the property that is at fault. */

const [VLAN, VRF, TABLE, RULE] = ['/interface/vlan', '/ip/vrf', '/routing/table', '/routing/rule'];
const [ADDRESS, ADDRESS6, ROUTE, ROUTE6] = ['/ip/address', '/ipv6/address', '/ip/route', '/ipv6/route'];

let router: Router;
/** Rows by the name or address that they were made with. */
const ids = new Map<string, string>();

beforeAll(async () => {
  router = await Router.start();
  const rows: [menu: string, body: Record<string, string>][] = [
    [VLAN, { name: 'vlan10', interface: 'ether1', 'vlan-id': '10' }],
    [VLAN, { name: 'vlan20', interface: 'vlan10', 'vlan-id': '20' }],
    ['/interface/loopback', { name: 'loopback1' }],
    [VRF, { name: 'blue', interfaces: 'ether2' }],
    [TABLE, { name: 'isp2', fib: '' }],
    [ADDRESS, { address: '10.0.0.1/24', interface: 'ether1' }],
    [ADDRESS6, { address: '2001:db8::1/64', interface: 'ether1' }],
    [ROUTE, { gateway: '10.0.0.2', 'routing-table': 'isp2' }],
  ];
  for (const [menu, body] of rows) ids.set(body.name ?? body.address ?? menu, await router.add(menu, body));
});
afterAll(() => router.close());

const NETWORK = { 'dst-address': '10.9.0.0/16' };
const NETWORK6 = { 'dst-address': '2001:db8:9::/48' };

describe('a new item', () => {
  it.each([
    [VLAN, { interface: 'ether1', 'vlan-id': '10' }, 'vlan-id', /10/],
    [VLAN, { interface: 'ether1', 'vlan-id': '4096' }, 'vlan-id', /4094/],
    [VLAN, { interface: 'ether1' }, 'vlan-id', /required|missing/],
    [VLAN, { interface: 'loopback1', 'vlan-id': '7' }, 'interface', /loopback/],
    [VLAN, { interface: 'ether77', 'vlan-id': '7' }, 'interface', /ether77/],
    [VLAN, { interface: 'ether1', 'vlan-id': '7', name: 'loopback1' }, 'name', /already/],
    [VLAN, { interface: 'ether1', 'vlan-id': '7', name: 'all' }, 'name', /none of all/],
    [VLAN, { interface: 'ether1', 'vlan-id': '7', name: 'all-vlan' }, 'name', /starting with all-/],
    [VLAN, { interface: 'ether1', 'vlan-id': '7', name: 'global' }, 'name', /none of all, global/],
    ['/interface/loopback', { name: 'all' }, 'name', /none of all/],
    ['/interface/list', { name: 'all' }, 'name', /already/],
    ['/interface/list', { name: 'none' }, 'name', /already/],
    ['/queue/simple', { name: 'none', target: '10.0.0.9' }, 'name', /parent of \/queue\/simple/],
    ['/queue/tree', { name: 'global', parent: 'ether1' }, 'name', /parent of \/queue\/tree/],
    ['/interface/loopback', { name: 'vlan10' }, 'name', /already/],
    ['/interface/loopback', { mtu: '1500' }, 'mtu', /unknown parameter/],
    [VRF, { name: 'red', interfaces: 'ether1,ether2' }, 'interfaces', /ether2 is in the VRF blue already/],
    [VRF, { name: 'red', interfaces: 'ether77' }, 'interfaces', /ether77/],
    [VRF, { name: 'isp2', interfaces: 'ether1' }, 'name', /routing table/],
    [VRF, { name: 'main', interfaces: 'ether1' }, 'name', /already/],
    [VRF, { name: 'a@b', interfaces: 'ether1' }, 'name', /@/],
    [VRF, { name: 'no-mark', interfaces: 'ether1' }, 'name', /routing-mark of /],
    [TABLE, { name: 'no-mark' }, 'name', /routing-mark of /],
    [TABLE, { name: 'main' }, 'name', /already/],
    [TABLE, { name: 'blue' }, 'name', /VRF/],
    [TABLE, { name: 'isp2' }, 'name', /already/],
    [TABLE, { fib: '' }, 'name', /required|missing/],
    [RULE, { table: 'nowhere' }, 'table', /nowhere/],
    [RULE, { 'routing-mark': 'nowhere', action: 'drop' }, 'routing-mark', /nowhere/],
    [RULE, { 'src-address': '10.0.0.1/8', action: 'drop' }, 'src-address', /host bits/],
    [RULE, { 'dst-address': '2001:db8::1/32', action: 'drop' }, 'dst-address', /host bits/],
    [RULE, { 'src-address': '10.0.0.0/8', 'dst-address': '2001:db8::/32', action: 'drop' }, 'dst-address', /family/],
    [RULE, { interface: 'ether77', action: 'drop' }, 'interface', /ether77/],
    [ADDRESS, { address: '10.0.0.1/25', interface: 'ether1' }, 'address', /already/],
    [ADDRESS, { address: '10.0.1.0/24', interface: 'ether1' }, 'address', /network itself/],
    [ADDRESS, { address: '10.0.1.1/24', interface: 'ether77' }, 'interface', /ether77/],
    [ADDRESS, { address: '10.0.1.1/24', interface: 'ether1', vrf: 'blue' }, 'vrf', /unknown parameter vrf/],
    [ADDRESS6, { address: '2001:db8::1/64', interface: 'vlan10' }, 'address', /already/],
    [ADDRESS6, { address: '2001:db8:5::/64', interface: 'ether1' }, 'address', /anycast/],
    [ADDRESS6, { address: '2001:db8:5::1/64', interface: 'ether1', valid: '1h' }, 'valid', /unknown parameter/],
    [ROUTE, { 'dst-address': '10.9.0.1/16', gateway: '10.0.0.2' }, 'dst-address', /host bits/],
    [ROUTE, { ...NETWORK, gateway: '10.0.0.2', 'routing-table': 'nowhere' }, 'routing-table', /nowhere/],
    [ROUTE, { ...NETWORK, gateway: '10.0.0.2@nowhere' }, 'gateway', /nowhere/],
    [ROUTE, { ...NETWORK, gateway: '2001:db8::2' }, 'gateway', /2001:db8::2/],
    [ROUTE, { ...NETWORK, gateway: '10.0.0.2%ether77' }, 'gateway', /ether77/],
    [ROUTE, { ...NETWORK }, 'gateway', /required/],
    [ROUTE, { ...NETWORK, gateway: '10.0.0.2', distance: '256' }, 'distance', /255/],
    [ROUTE6, { 'dst-address': '2001:db8:9::1/48', gateway: '2001:db8::2' }, 'dst-address', /host bits/],
    [ROUTE6, { ...NETWORK6, gateway: '2001:db8::2', 'routing-table': 'nowhere' }, 'routing-table', /nowhere/],
    [ROUTE6, { ...NETWORK6, gateway: 'fe80::2' }, 'gateway', /fe80::2%interface/],
    [ROUTE6, { ...NETWORK6, gateway: '10.0.0.2' }, 'gateway', /10\.0\.0\.2/],
    [ROUTE6, { ...NETWORK6, gateway: '2001:db8::2', slaac: 'yes' }, 'slaac', /unknown parameter/],
  ] as const)('PUT %s %j is refused by %s', async (menu, body, property, detail) => {
    const answer = await router.rest('PUT', menu, body);
    expect(answer).toMatchObject({ status: 400, body: { error: 400, message: 'Bad Request', property } });
    expect(answer.error.detail).toMatch(detail);
    expect(answer.error.detail).toContain(property);
  });
});

describe('a change', () => {
  it.each([
    [VLAN, 'vlan10', { interface: 'vlan10' }, 'interface', /vlan10/],
    [VLAN, 'vlan10', { interface: 'vlan20' }, 'interface', /vlan20/],
    [VLAN, 'vlan20', { interface: 'ether1', 'vlan-id': '10' }, 'vlan-id', /10/],
    [VRF, 'blue', { name: 'isp2' }, 'name', /routing table/],
    [TABLE, 'isp2', { name: 'main' }, 'name', /already/],
    [ADDRESS, '10.0.0.1/24', { address: '10.0.0.255/24' }, 'address', /broadcast/],
  ] as const)('PATCH %s %s %j is refused by %s', async (menu, item, body, property, detail) => {
    const answer = await router.rest('PATCH', `${menu}/${ids.get(item)}`, body);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 400, body: { error: 400, property } });
    expect(answer.error.detail).toMatch(detail);
    expect(answer.error.detail).toContain(property);
  });

  it.each([
    [{ 'multipath-hash-policy': 'l5' }, /l3.*l4.*l3-inner/],
    [{ 'accept-redirects': 'maybe' }, /yes-if-forwarding-disabled/],
    [{ 'accept-router-advertisements-on': 'nowhere' }, /nowhere/],
    [{ 'min-neighbor-entries': '5000' }, /0\.\.4096/],
    [{ 'stale-neighbor-timeout': '0' }, /1\.\.86400/],
  ])('PATCH /ipv6/settings %j', async (body, detail) => {
    const answer = await router.rest('PATCH', '/ipv6/settings', body);
    expect(answer).toMatchObject({ status: 400, body: { property: Object.keys(body)[0] } });
    expect(answer.error.detail).toMatch(detail);
  });
});

it.each([
  [ROUTE, { ...NETWORK, gateway: '10.0.0.1' }],
  [ROUTE6, { ...NETWORK6, gateway: '2001:db8::1' }],
])('%s by an address of the router itself is not used, and says why', async (menu, body) => {
  const id = await router.add(menu, body);
  expect((await router.rest('GET', `${menu}/${id}`)).item.hint).toMatch(
    /gateway: .* is an address of this router itself/,
  );
  await router.rest('DELETE', `${menu}/${id}`);
});

it('and nothing of it is stored', async () => {
  const count = async (menu: string) =>
    (await router.rest('GET', menu)).rows.filter(({ dynamic, builtin }) => dynamic !== 'true' && builtin !== 'true')
      .length;
  const counts = await Promise.all([VLAN, VRF, TABLE, RULE, ADDRESS, ADDRESS6, ROUTE, ROUTE6].map(count));
  expect(counts).toEqual([2, 1, 1, 0, 1, 1, 1, 0]);
});
