import { connectionRecord } from '@tollway/dataplane-agent/records';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PASSWORD, Router } from './router.js';

const VRF = '/ip/vrf';
const ADDRESS = '/ip/address';

let router: Router;
beforeEach(async () => {
  router = await Router.start();
});
afterEach(() => router.close());

const zoneOf = (name: string): number => router.peer?.active?.interfaces.find((each) => each.name === name)?.zone ?? 0;
const tables = () => router.peer?.active?.['routing-tables'] ?? [];

describe('a VRF', () => {
  it('has its interfaces in a zone, and a routing table of its name', async () => {
    const id = await router.add(VRF, { name: 'blue', interfaces: 'ether2' });
    const { item } = await router.rest('GET', `${VRF}/${id}`);
    expect(item).toMatchObject({ name: 'blue', interfaces: 'ether2', disabled: 'false' });
    const row = Number.parseInt(id.slice(1), 16);
    const zone = zoneOf('ether2');
    expect(zone).toBe(row + 1);
    expect(zoneOf('ether1')).toBe(0);
    expect(tables()).toMatchObject([{ row, name: 'blue', fib: true, zone }]);
    expect((await router.rest('GET', '/routing/table')).rows).toMatchObject([
      { name: 'main', dynamic: 'true' },
      { name: 'blue', dynamic: 'true', fib: 'true' },
    ]);
    expect((await router.rest('GET', VRF)).rows).toMatchObject([
      { name: 'main', interfaces: 'all', builtin: 'true' },
      { name: 'blue', interfaces: 'ether2' },
    ]);
    // Another VRF comes and goes, and this one keeps its zone.
    const other = await router.add(VRF, { name: 'red', interfaces: 'ether1' });
    expect((await router.rest('DELETE', `${VRF}/${other}`)).status).toBe(204);
    expect(zoneOf('ether2')).toBe(zone);
    expect((await router.rest('PATCH', `${VRF}/${id}`, { disabled: 'yes' })).status).toBe(200);
    expect([zoneOf('ether2'), tables()]).toEqual([0, []]);
    expect((await router.rest('GET', '/routing/table')).rows).toHaveLength(1);
  });

  it('has addresses that others have, and routes in its table', async () => {
    await router.add(VRF, { name: 'blue', interfaces: 'ether1' });
    await router.add(VRF, { name: 'red', interfaces: 'ether2' });
    await router.add('/routing/table', { name: 'isp2', fib: '' });
    await router.add(ADDRESS, { address: '192.168.88.1/24', interface: 'ether1' });
    await router.add(ADDRESS, { address: '192.168.88.1/24', interface: 'ether2' });
    expect(await router.refused('PUT', ADDRESS, { address: '192.168.88.1/25', interface: 'ether2' })).toMatch(
      /already have such address/,
    );
    await router.add('/ipv6/address', { address: '2001:db8::1/64', interface: 'ether1' });
    await router.add('/ipv6/address', { address: '2001:db8::1/64', interface: 'ether2' });
    await router.add('/ip/route', { 'dst-address': '10.0.0.0/8', gateway: '192.168.88.1', 'routing-table': 'main' });
    await router.add('/ip/route', { gateway: '192.168.88.254', 'routing-table': 'blue' });
    await router.add('/ip/route', { gateway: '192.168.88.254@blue,ether2@main', 'routing-table': 'red' });
    const invalid = await router.add('/ip/route', { gateway: '192.168.88.1', 'routing-table': 'blue' });
    expect(tables().map(({ name }) => name)).toEqual(['isp2', 'blue', 'red']);
    const routes = router.peer?.active?.routes ?? [];
    expect(routes.map(({ options, target }) => [options?.table ?? 0, target])).toMatchObject([
      [0, { kind: 'gateway', address: '192.168.88.1' }],
      [2, { kind: 'gateway', address: '192.168.88.254' }],
      [3, { kind: 'gateways', gateways: [{ table: 2 }, { table: 0 }] }],
    ]);
    expect((await router.rest('GET', `/ip/route/${invalid}`)).item.hint).toMatch(/address of this router/);
    // Renamed, it is followed.
    const [, blue] = (await router.rest('GET', VRF)).rows;
    expect((await router.rest('PATCH', `${VRF}/${blue?.['.id']}`, { name: 'green' })).status).toBe(200);
    const followed = (await router.rest('GET', '/ip/route')).rows.map((row) => [row['routing-table'], row.gateway]);
    expect(followed).toContainEqual(['green', '192.168.88.254']);
    expect(followed).toContainEqual(['red', '192.168.88.254@green,ether2@main']);
  });

  it('that is disabled leaves addresses that others have without effect, which is said', async () => {
    const vrf = await router.add(VRF, { name: 'blue', interfaces: 'ether2' });
    await router.add(ADDRESS, { address: '192.168.88.1/24', interface: 'ether1' });
    const second = await router.add(ADDRESS, { address: '192.168.88.1/24', interface: 'ether2' });
    expect((await router.rest('PATCH', `${VRF}/${vrf}`, { disabled: 'yes' })).status).toBe(200);
    expect(router.peer?.active?.addresses).toHaveLength(1);
    expect((await router.rest('GET', `${ADDRESS}/${second}`)).item.invalid).toBe('true');
  });

  it('is refused by name where it cannot be', async () => {
    await router.add(VRF, { name: 'blue', interfaces: 'ether1' });
    await router.add('/routing/table', { name: 'isp2', fib: '' });
    expect(await router.refused('PUT', VRF, { name: 'red', interfaces: 'ether2,ether1' })).toMatch(
      /interfaces: ether1 is in the VRF blue already/,
    );
    expect(await router.refused('PUT', VRF, { name: 'red', interfaces: 'ether77' })).toMatch(/interfaces.*ether77/);
    expect(await router.refused('PUT', VRF, { name: 'red' })).toMatch(/interfaces/);
    expect(await router.refused('PUT', VRF, { name: 'blue', interfaces: 'ether2' })).toMatch(/already have VRF/);
    expect(await router.refused('PUT', VRF, { name: 'main', interfaces: 'ether2' })).toMatch(/already have VRF/);
    expect(await router.refused('PUT', VRF, { name: 'isp2', interfaces: 'ether2' })).toMatch(
      /already have routing table/,
    );
    expect(await router.refused('PUT', '/routing/table', { name: 'blue' })).toMatch(/already have VRF/);
    expect(await router.refused('PUT', '/ip/route', { gateway: '10.0.0.1', 'routing-table': 'none' })).toMatch(
      /routing-table/,
    );
    expect(await router.refused('PUT', '/ip/route', { gateway: '10.0.0.1@none' })).toMatch(/gateway: none is neither/);
    // In use.
    const [, blue] = (await router.rest('GET', VRF)).rows;
    await router.add('/ip/route', { gateway: 'ether2@main', 'routing-table': 'blue' });
    expect(await router.refused('DELETE', `${VRF}/${blue?.['.id']}`)).toMatch(/blue.*\/ip\/route/);
    const [main] = (await router.rest('GET', VRF)).rows;
    expect(await router.refused('PATCH', `${VRF}/${main?.['.id']}`, { interfaces: 'ether2' })).toMatch(/builtin|main/);
    expect(await router.refused('DELETE', `${VRF}/${main?.['.id']}`)).toMatch(/builtin|main/);
  });

  it('is shown where its interfaces, addresses, neighbours and connections are', async () => {
    const id = await router.add(VRF, { name: 'blue', interfaces: 'ether2' });
    const zone = zoneOf('ether2');
    const at = connectionRecord;
    const record = (number: number, family: number, zoneNumber: number) => {
      const bytes = Buffer.alloc(at.size);
      bytes.writeBigUInt64LE(BigInt(number), at.id);
      bytes.set([6, family], at.protocol);
      bytes.writeUInt16LE(zoneNumber, at.zone);
      return bytes;
    };
    if (router.peer === undefined) throw new Error('no peer');
    router.peer.connections = Buffer.concat(
      [4, 6].flatMap((family) => [record(family, family, 0), record(family + 4, family, zone)]),
    );
    for (const [name, host] of [
      ['ether1', 1],
      ['ether2', 2],
    ]) {
      await router.add(ADDRESS, { address: `10.0.0.${host}/24`, interface: `${name}` });
      await router.add('/ipv6/address', { address: `2001:db8::${host}/64`, interface: `${name}` });
      const mac = `02:00:00:00:00:0${host}`;
      await router.add('/ip/arp', { address: `10.0.0.10${host}`, 'mac-address': mac, interface: `${name}` });
      await router.add('/ipv6/neighbor', { address: `2001:db8::10${host}`, 'mac-address': mac, interface: `${name}` });
    }
    const menus = ['/ip', '/ipv6'].flatMap((family) => [
      `${family}/address`,
      family === '/ip' ? '/ip/arp' : '/ipv6/neighbor',
      `${family}/firewall/connection`,
    ]);
    const shown = async (menu: string) =>
      (await router.rest('GET', menu)).rows.filter(({ dynamic }) => dynamic !== 'true').map((row) => row.vrf);
    for (const menu of menus) expect(await shown(menu), menu).toEqual(['main', 'blue']);
    expect((await router.rest('GET', `${ADDRESS}?vrf=blue`)).rows).toHaveLength(1);
    await router.rest('PATCH', `${VRF}/${id}`, { name: 'green' });
    for (const menu of menus) expect(await shown(menu), menu).toEqual(['main', 'green']);
    // It is not a property that can be set.
    const [row] = (await router.rest('GET', ADDRESS)).rows;
    expect(await router.refused('PATCH', `${ADDRESS}/${row?.['.id']}`, { vrf: 'green' })).toContain(
      'unknown parameter vrf',
    );
  });

  it('is told apart from an interface of its name, and an undone rename is followed', async () => {
    const rename = async (path: string, name: string): Promise<number> => {
      const answer = await router.rest('PATCH', path, { name });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return Number(answer.headers.get('x-tollway-revision'));
    };
    const undo = async (revision: number) => {
      const { status, body } = await router.request('POST', `/api/v1/revisions/${revision}/undo`, undefined, {
        authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`,
      });
      expect(status, JSON.stringify(body)).toBe(200);
    };
    const vlan = await router.add('/interface/vlan', { name: 'cust', 'vlan-id': '10', interface: 'ether2' });
    const vrf = await router.add(VRF, { name: 'cust', interfaces: 'cust' });
    const gateway = '10.0.0.5%cust@cust,10.0.0.6@cust,cust';
    await router.add('/ip/route', { 'dst-address': '10.98.0.0/16', gateway });
    await router.add('/ipv6/route', { 'dst-address': '2001:db8:98::/48', gateway: 'fe80::5%cust@cust' });
    const gateways = async () =>
      Promise.all(
        ['/ip/route', '/ipv6/route'].map(async (menu) => (await router.rest('GET', menu)).rows.at(0)?.gateway),
      );
    const before = await gateways();
    expect(before).toEqual([gateway, 'fe80::5%cust@cust']);
    const port = await rename(`/interface/vlan/${vlan}`, 'port');
    expect(await gateways()).toEqual(['10.0.0.5%port@cust,10.0.0.6@cust,port', 'fe80::5%port@cust']);
    const blue = await rename(`${VRF}/${vrf}`, 'blue');
    expect(await gateways()).toEqual(['10.0.0.5%port@blue,10.0.0.6@blue,port', 'fe80::5%port@blue']);
    await undo(blue);
    expect(await gateways()).toEqual(['10.0.0.5%port@cust,10.0.0.6@cust,port', 'fe80::5%port@cust']);
    await undo(port);
    expect(await gateways()).toEqual(before);
    // What names the table alone does not keep the interface.
    await router.rest('PATCH', `${VRF}/${vrf}`, { interfaces: '' });
    for (const { '.id': id } of (await router.rest('GET', '/ip/route')).rows) {
      await router.rest('PATCH', `/ip/route/${id}`, { gateway: '10.0.0.6@cust' });
    }
    for (const { '.id': id } of (await router.rest('GET', '/ipv6/route')).rows) {
      await router.rest('DELETE', `/ipv6/route/${id}`);
    }
    expect((await router.rest('DELETE', `/interface/vlan/${vlan}`)).status).toBe(204);
    expect(await router.refused('DELETE', `${VRF}/${vrf}`)).toMatch(/cust is in use by .ip.route/);
  });
});
