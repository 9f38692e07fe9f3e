import { afterAll, beforeAll, expect, it } from 'vitest';
import { Router } from './router.js';

const LOOPBACK = '/interface/loopback';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

const put = async (menu: string, body: Record<string, string>) => {
  const answer = await router.rest('PUT', menu, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer;
};

it('a loopback interface is one of the interfaces, with addresses of both families and a generated name', async () => {
  const { id, item } = await put(LOOPBACK, { comment: 'router id' });
  expect(item).toMatchObject({ name: 'loopback1', disabled: 'false', comment: 'router id' });
  await put('/ip/address', { address: '192.0.2.1/32', interface: 'loopback1' });
  await put('/ipv6/address', { address: '2001:db8::1/128', interface: 'loopback1' });
  const row = Number.parseInt(id.slice(1), 16);
  expect(router.peer?.active?.interfaces.find((each) => each.row === row)).toEqual({
    row,
    name: 'loopback1',
    kind: { type: 'loopback' },
    disabled: false,
    mtu: 1500,
    'mac-address': null,
    arp: 'disabled',
    'arp-timeout-ms': null,
  });
  const own = router.peer?.active?.addresses.filter((each) => each.interface === row).map(({ address }) => address);
  expect(own).toEqual(['192.0.2.1', '2001:db8::1']);
  const all = (await router.rest('GET', '/interface')).rows.map(({ name, type }) => [name, type]);
  expect(all).toContainEqual(['loopback1', 'loopback']);
  // Its address is the source of what the router sends by a route.
  await put('/ip/address', { address: '10.0.0.1/24', interface: 'ether1' });
  await put('/ip/route', { gateway: '10.0.0.2', 'pref-src': '192.0.2.1' });
  expect(router.peer?.active?.routes.slice(-1)).toMatchObject([{ 'pref-src': '192.0.2.1' }]);
});

it('is refused where it cannot work, and while addresses are on it', async () => {
  const refused = async (method: string, path: string, body?: Record<string, string>) => {
    const answer = await router.rest(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    return answer.error.detail;
  };
  expect(await refused('PUT', LOOPBACK, { name: 'ether1' })).toContain('ether1');
  expect(await refused('PUT', LOOPBACK, { name: 'lo' })).toContain('none of all, global, aggregate, lo');
  expect(await refused('PUT', LOOPBACK, { name: 'lo9', mtu: '1500' })).toContain('mtu');
  expect(await refused('PUT', '/interface/vlan', { interface: 'loopback1', 'vlan-id': '7' })).toContain(
    'loopback1 is a loopback interface',
  );
  expect(await refused('DELETE', `${LOOPBACK}/loopback1`)).toMatch(/used|referenced|in use/);
  const { rows } = await router.rest('GET', LOOPBACK);
  await router.rest('PATCH', `${LOOPBACK}/${rows[0]?.['.id']}`, { disabled: 'yes' });
  expect(router.peer?.active?.interfaces.find(({ name }) => name === 'loopback1')?.disabled).toBe(true);
});

it('is in the zone of its VRF', async () => {
  const id = await router.add(LOOPBACK, { name: 'own' });
  const zoneOf = (name: string) => router.peer?.active?.interfaces.find((each) => each.name === name)?.zone ?? 0;
  expect(zoneOf('own')).toBe(0);
  await router.add('/ip/vrf', { name: 'blue', interfaces: 'ether2,own' });
  expect(zoneOf('own')).toBeGreaterThan(0);
  expect(zoneOf('own')).toBe(zoneOf('ether2'));
  await put('/ip/address', { address: '192.0.2.9/32', interface: 'own' });
  expect((await router.rest('GET', '/ip/address')).rows.find((row) => row.interface === 'own')?.vrf).toBe('blue');
  expect((await router.rest('GET', `${LOOPBACK}/${id}`)).item.name).toBe('own');
});
