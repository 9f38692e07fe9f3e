import { MAX_INTERFACES, MAX_ROUTING_TABLES } from '@tollway/dataplane-agent/records';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Router } from './router.js';

/** What the data plane holds is known here, and refused before it is asked. */

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

const count = async (menu: string): Promise<number> => {
  const { body } = await router.rest('POST', `${menu}/print`, { 'count-only': '' });
  return Number((body as { ret: string }).ret);
};
const several = (number: number, of: (at: number) => Record<string, string>) =>
  Array.from({ length: number }, (_, at) => of(at));

it('interfaces of all types are counted together', { timeout: 120_000 }, async () => {
  const room = MAX_INTERFACES - (await count('/interface'));
  const vlans = several(1_000, (at) => ({ interface: 'ether1', 'vlan-id': `${at + 1}`, name: `v${at + 1}` }));
  expect((await router.rest('PUT', '/interface/vlan', vlans)).status).toBe(201);
  const loopbacks = several(room - 1_000, (at) => ({ name: `l${at}` }));
  // One too many in a list: none of it is added.
  const more = await router.rest('PUT', '/interface/loopback', [...loopbacks, { name: 'beyond' }]);
  expect(more).toMatchObject({ status: 400, body: { property: 'name' } });
  expect(more.error.detail).toMatch(`at most ${MAX_INTERFACES} interfaces of all types are possible`);
  expect((await router.rest('PUT', '/interface/loopback', loopbacks)).status).toBe(201);
  expect(await count('/interface')).toBe(MAX_INTERFACES);
  expect(router.peer?.active?.interfaces).toHaveLength(MAX_INTERFACES);
  for (const [menu, body] of [
    ['/interface/loopback', { name: 'beyond' }],
    ['/interface/vlan', { interface: 'ether1', 'vlan-id': '4000' }],
  ] as const) {
    expect(await router.rest('PUT', menu, body)).toMatchObject({ status: 400, body: { property: 'name' } });
  }
  // What is there can be changed, and gives way to another.
  expect((await router.rest('PATCH', '/interface/loopback/l0', { comment: 'first' })).status).toBe(200);
  expect((await router.rest('DELETE', '/interface/loopback/l0')).status).toBe(204);
  expect((await router.rest('PUT', '/interface/loopback', { name: 'instead' })).status).toBe(201);
});

it('routing tables are counted with those of VRFs', { timeout: 120_000 }, async () => {
  expect((await router.rest('PUT', '/ip/vrf', { name: 'blue', interfaces: 'ether2' })).status).toBe(201);
  const tables = several(MAX_ROUTING_TABLES - 1, (at) => ({ name: `t${at}`, fib: '' }));
  expect((await router.rest('PUT', '/routing/table', tables)).status).toBe(201);
  for (const [menu, body] of [
    ['/routing/table', { name: 'beyond' }],
    ['/ip/vrf', { name: 'beyond', interfaces: 'v1' }],
  ] as const) {
    const answer = await router.rest('PUT', menu, body);
    expect(answer).toMatchObject({ status: 400, body: { property: 'name' } });
    expect(answer.error.detail).toContain(`at most ${MAX_ROUTING_TABLES} routing tables, with those of VRFs,`);
  }
  expect(router.peer?.active?.['routing-tables']).toHaveLength(MAX_ROUTING_TABLES);
});
