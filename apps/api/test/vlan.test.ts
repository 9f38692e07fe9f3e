import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Router } from './router.js';

const VLAN = '/interface/vlan';

let router: Router;
beforeEach(async () => {
  router = await Router.start();
});
afterEach(() => router.close());

const compiled = () => (router.peer?.active?.interfaces ?? []).filter(({ kind }) => kind.type === 'vlan');

describe('a VLAN', () => {
  it('is an interface of a port or of another VLAN, under a name made up', async () => {
    const id = await router.add(VLAN, { 'vlan-id': '10', interface: 'ether2' });
    await router.add(VLAN, {
      name: 'inner',
      'vlan-id': '20',
      interface: 'vlan1',
      'use-service-tag': 'yes',
      mtu: '1400',
    });
    const { item } = await router.rest('GET', `${VLAN}/${id}`);
    expect(item).toMatchObject({
      name: 'vlan1',
      'vlan-id': '10',
      interface: 'ether2',
      'use-service-tag': 'false',
      mtu: '1500',
      arp: 'enabled',
      'arp-timeout': 'auto',
      disabled: 'false',
    });
    const rows = (await router.rest('GET', '/interface')).rows;
    expect(rows.filter(({ type }) => type === 'vlan').map(({ name }) => name)).toEqual(['vlan1', 'inner']);
    const row = Number.parseInt(id.slice(1), 16);
    const port = router.peer?.active?.interfaces.find(({ name }) => name === 'ether2')?.row;
    expect(compiled().map(({ name, mtu, kind }) => ({ name, mtu, kind }))).toEqual([
      { name: 'vlan1', mtu: 1500, kind: { type: 'vlan', parent: port, 'vlan-id': 10, 'service-tag': false } },
      { name: 'inner', mtu: 1400, kind: { type: 'vlan', parent: row, 'vlan-id': 20, 'service-tag': true } },
    ]);
  });

  it('carries addresses, rules and queues, and follows its interface to another name', async () => {
    await router.add(VLAN, { name: 'guests', 'vlan-id': '10', interface: 'ether2' });
    await router.add('/ip/address', { address: '10.10.0.1/24', interface: 'guests' });
    await router.add('/ip/firewall/filter', { chain: 'forward', action: 'drop', 'in-interface': 'guests' });
    await router.add('/ip/firewall/filter', { chain: 'input', action: 'drop', 'in-interface': '!all-vlan' });
    await router.add('/queue/simple', { target: 'guests', 'max-limit': '1M/1M' });
    await router.add('/interface/list', { name: 'LAN' });
    await router.add('/interface/list/member', { list: 'LAN', interface: 'guests' });
    const [vlan] = compiled();
    const chains = router.peer?.active?.filter.flatMap(({ rules }) => rules.flatMap(({ matchers }) => matchers));
    expect(chains?.filter(({ kind }) => kind === 'in-interface')).toEqual([
      { kind: 'in-interface', interfaces: [vlan?.row], negate: true },
      { kind: 'in-interface', interfaces: [vlan?.row], negate: false },
    ]);
    const port = (await router.rest('GET', '/interface')).rows.find(({ name }) => name === 'ether2');
    expect((await router.rest('PATCH', `/interface/${port?.['.id']}`, { name: 'trunk' })).status).toBe(200);
    expect((await router.rest('GET', VLAN)).rows).toMatchObject([{ name: 'guests', interface: 'trunk' }]);
  });

  it('is refused by name where it cannot work', async () => {
    const id = await router.add(VLAN, { name: 'a', 'vlan-id': '10', interface: 'ether2' });
    await router.add(VLAN, { name: 'b', 'vlan-id': '10', interface: 'ether2', 'use-service-tag': 'yes' });
    await router.add(VLAN, { name: 'c', 'vlan-id': '10', interface: 'a' });
    const put = (body: Record<string, string>) =>
      router.refused('PUT', VLAN, { 'vlan-id': '7', interface: 'ether2', ...body });
    expect(await put({ 'vlan-id': '10' })).toContain('a has vlan-id 10 on ether2 already');
    expect(await put({ 'vlan-id': '10', 'use-service-tag': 'yes' })).toContain('b has vlan-id 10');
    expect(await put({ 'vlan-id': '4095' })).toContain('vlan-id');
    expect(await put({ 'vlan-id': '0' })).toContain('vlan-id');
    expect(await put({ interface: 'ether77' })).toContain('value of interface: ether77');
    expect(await put({ mtu: '1501' })).toContain('give at most 1500');
    expect(await put({ name: 'ether1' })).toContain('name');
    expect(await put({ name: 'x', interface: 'x' })).toContain('interface');
    expect(await put({ mvrp: 'yes' })).toContain('mvrp');
    for (const below of ['a', 'c']) {
      expect(await router.refused('PATCH', `${VLAN}/${id}`, { interface: below })).toContain('value of interface');
    }
    expect((await router.rest('PATCH', `${VLAN}/${id}`, { interface: 'ether1', mtu: '1400' })).status).toBe(200);
    expect(await router.refused('DELETE', `${VLAN}/${id}`)).toContain(`in use by ${VLAN}`);
  });

  it('has at most four tags, however they come together', async () => {
    for (const [name, below] of [
      ['a', 'ether1'],
      ['b', 'a'],
      ['c', 'b'],
      ['d', 'c'],
      ['x', 'ether2'],
      ['y', 'x'],
    ] as const) {
      await router.add(VLAN, { name, 'vlan-id': '5', interface: below });
    }
    expect(await router.refused('PUT', VLAN, { 'vlan-id': '5', interface: 'd' })).toContain('more than 4 VLANs');
    const [x] = (await router.rest('GET', `${VLAN}?name=x`)).rows;
    expect(await router.refused('PATCH', `${VLAN}/${x?.['.id']}`, { interface: 'c', 'vlan-id': '6' })).toContain(
      'more than 4',
    );
    expect((await router.rest('PATCH', `${VLAN}/${x?.['.id']}`, { interface: 'b', 'vlan-id': '6' })).status).toBe(200);
  });

  it('can be changed when the MTU of the interface below has been lowered', async () => {
    const id = await router.add(VLAN, { name: 'cust', 'vlan-id': '10', interface: 'ether2' });
    const [port] = (await router.rest('GET', '/interface/ethernet?name=ether2')).rows;
    expect((await router.rest('PATCH', `/interface/ethernet/${port?.['.id']}`, { mtu: '1400' })).status).toBe(200);
    for (const change of [{ comment: 'north' }, { disabled: 'yes' }, { name: 'north', mtu: '1500' }, { mtu: '1400' }]) {
      expect((await router.rest('PATCH', `${VLAN}/${id}`, change)).status, JSON.stringify(change)).toBe(200);
    }
    expect(await router.refused('PATCH', `${VLAN}/${id}`, { mtu: '1401' })).toMatch(/1401 is more than the 1400/);
  });
});
