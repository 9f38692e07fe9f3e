import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '../src/snapshot/snapshot.js';
import { loopFinder } from '../src/view/route-hints.js';
import { Router } from './router.js';

const TABLE = '/routing/table';
const RULE = '/routing/rule';
const ROUTE = '/ip/route';
const MANGLE = '/ip/firewall/mangle';

let router: Router;
beforeEach(async () => {
  router = await Router.start();
});
afterEach(() => router.close());

const marking = (table: string) => ({ chain: 'prerouting', action: 'mark-routing', 'new-routing-mark': table });

describe('routing tables', () => {
  it('exist beside main, which is always there', async () => {
    const id = await router.add(TABLE, { name: 'isp2', fib: '' });
    const rows = (await router.rest('GET', TABLE)).rows;
    expect(rows.map(({ name, dynamic, fib }) => ({ name, dynamic, fib }))).toEqual([
      { name: 'main', dynamic: 'true', fib: 'true' },
      { name: 'isp2', dynamic: 'false', fib: 'true' },
    ]);
    expect(router.peer?.active?.['routing-tables']).toMatchObject([
      { row: Number.parseInt(id.slice(1), 16), fib: true },
    ]);
    expect(await router.refused('PUT', TABLE, { name: 'isp2' })).toContain(
      'already have routing table with such name: isp2',
    );
    expect(await router.refused('PUT', TABLE, { name: 'main' })).toContain(
      'already have routing table with such name: main',
    );
    expect(await router.refused('PUT', TABLE, { name: 'a@b' })).toContain('without a comma, @ or %');
    const main = rows.find(({ name }) => name === 'main')?.['.id'];
    expect((await router.rest('DELETE', `${TABLE}/${main}`)).status).toBe(400);
  });

  it('are not removed while something names them, and are renamed everywhere', async () => {
    const table = await router.add(TABLE, { name: 'isp2', fib: '' });
    const remove = () => router.refused('DELETE', `${TABLE}/${table}`);
    const users: [menu: string, body: Record<string, string>, property: string, after: string][] = [
      [ROUTE, { gateway: '10.0.0.2', 'routing-table': 'isp2' }, 'routing-table', 'second'],
      [ROUTE, { 'dst-address': '10.9.0.0/16', gateway: '10.0.0.2@isp2,ether1' }, 'gateway', '10.0.0.2@second,ether1'],
      ['/ipv6/route', { gateway: '2001:db8::2', 'routing-table': 'isp2' }, 'routing-table', 'second'],
      [RULE, { table: 'isp2' }, 'table', 'second'],
      [RULE, { 'routing-mark': 'isp2', action: 'drop' }, 'routing-mark', 'second'],
      [MANGLE, marking('isp2'), 'new-routing-mark', 'second'],
      ['/ipv6/firewall/mangle', { ...marking('main'), 'routing-mark': '!isp2' }, 'routing-mark', '!second'],
    ];
    for (const [menu, body, property, after] of users) {
      const id = await router.add(menu, body);
      expect(await remove(), menu).toContain(`routing table isp2 is in use by ${menu}`);
      await router.rest('PATCH', `${TABLE}/${table}`, { name: 'second' });
      expect((await router.rest('GET', `${menu}/${id}`)).item?.[property], menu).toBe(after);
      await router.rest('PATCH', `${TABLE}/${table}`, { name: 'isp2' });
      await router.rest('DELETE', `${menu}/${id}`);
    }
    expect((await router.rest('DELETE', `${TABLE}/${table}`)).status).toBe(204);
  });

  it('that do not exist are refused by name', async () => {
    expect(await router.refused('PUT', ROUTE, { gateway: 'main' })).toContain('main is a routing table, no interface');
    expect(await router.refused('PUT', ROUTE, { gateway: '10.0.0.2@ether1' })).toContain(
      'there is no routing table ether1',
    );
    const cases: [menu: string, body: Record<string, string>, property: string][] = [
      [ROUTE, { gateway: '10.0.0.2', 'routing-table': 'nowhere' }, 'routing-table'],
      [ROUTE, { gateway: '10.0.0.2@nowhere' }, 'gateway'],
      ['/ipv6/route', { gateway: '2001:db8::2@nowhere' }, 'gateway'],
      [ROUTE, { gateway: 'nowhere' }, 'gateway'],
      [RULE, { table: 'nowhere' }, 'table'],
      [RULE, { 'routing-mark': 'nowhere', action: 'drop' }, 'routing-mark'],
      [MANGLE, marking('nowhere'), 'new-routing-mark'],
      ['/ip/firewall/filter', { chain: 'forward', 'routing-mark': 'nowhere' }, 'routing-mark'],
    ];
    for (const [menu, body, property] of cases) {
      const detail = await router.refused('PUT', menu, body);
      expect(detail, menu).toContain(property);
      expect(detail, menu).toContain('nowhere');
    }
  });

  it('disabled ones leave out what names them, with the reason', async () => {
    const table = await router.add(TABLE, { name: 'isp2', fib: '' });
    const rule = await router.add(RULE, { table: 'isp2' });
    const marked = await router.add(MANGLE, marking('isp2'));
    expect(router.peer?.active?.['routing-rules']).toHaveLength(1);
    await router.rest('PATCH', `${TABLE}/${table}`, { disabled: 'true' });
    expect(router.peer?.active?.['routing-rules']).toEqual([]);
    const { item } = await router.rest('GET', `${RULE}/${rule}`);
    expect(item).toMatchObject({ inactive: 'true', hint: 'table: there is no enabled routing table isp2' });
    expect((await router.rest('GET', `${MANGLE}/${marked}`)).item).toMatchObject({ invalid: 'true' });
    await router.rest('PATCH', `${TABLE}/${table}`, { disabled: 'false' });
    expect(router.peer?.active?.['routing-rules']).toHaveLength(1);
    expect((await router.rest('GET', `${MANGLE}/${marked}`)).item?.invalid).not.toBe('true');
  });
});

describe('a routing table', () => {
  const flags = async (name: string) => {
    const row = (await router.rest('GET', TABLE)).rows.find((each) => each.name === name);
    return [row?.dynamic, row?.invalid, row?.used];
  };

  it('is used while something that is enabled names it', async () => {
    const table = await router.add(TABLE, { name: 'isp2', fib: '' });
    await router.add('/ip/vrf', { name: 'blue', interfaces: 'ether2' });
    expect(await flags('main')).toEqual(['true', 'false', 'true']);
    expect(await flags('blue')).toEqual(['true', 'false', 'true']);
    expect(await flags('isp2')).toEqual(['false', 'false', 'false']);
    const named: [menu: string, body: Record<string, string>][] = [
      [RULE, { table: 'isp2' }],
      [RULE, { action: 'drop', 'routing-mark': 'isp2' }],
      [MANGLE, marking('isp2')],
      ['/ip/route', { gateway: 'ether1', 'routing-table': 'isp2' }],
      ['/ipv6/route', { gateway: 'ether1@isp2' }],
    ];
    for (const [menu, body] of named) {
      const id = await router.add(menu, body);
      expect(await flags('isp2'), menu).toEqual(['false', 'false', 'true']);
      await router.rest('PATCH', `${menu}/${id}`, { disabled: 'true' });
      expect(await flags('isp2'), menu).toEqual(['false', 'false', 'false']);
    }
    await router.add('/ip/route', { gateway: 'ether1', 'routing-table': 'isp2' });
    await router.rest('PATCH', `${TABLE}/${table}`, { disabled: 'true' });
    expect(await flags('isp2')).toEqual(['false', 'false', 'false']);
  });
});

describe('routing rules', () => {
  it('are ordered, and need what their action needs', async () => {
    await router.add(TABLE, { name: 'isp2', fib: '' });
    const first = await router.add(RULE, { 'src-address': '192.168.88.0/24', table: 'isp2', 'min-prefix': '0' });
    const second = await router.add(RULE, { 'dst-address': '2001:db8::/32', action: 'unreachable' });
    const order = () => router.peer?.active?.['routing-rules']?.map(({ row }) => `*${row.toString(16).toUpperCase()}`);
    expect(order()).toEqual([first, second]);
    await router.rest('POST', `${RULE}/move`, { numbers: second, destination: first });
    expect(order()).toEqual([second, first]);

    expect(await router.refused('PUT', RULE, { 'src-address': '10.0.0.0/8' })).toContain(
      'table is required for action lookup',
    );
    expect(await router.refused('PUT', RULE, { action: 'drop', 'src-address': '10.0.0.1/8' })).toContain('host bits');
    const mixed = { action: 'drop', 'src-address': '10.0.0.0/8', 'dst-address': '2001:db8::/32' };
    expect(await router.refused('PUT', RULE, mixed)).toContain('not of the family of src-address');
    expect(await router.refused('PUT', RULE, { table: 'isp2', 'min-prefix': '128' })).toContain('min-prefix');
    const all = { table: 'isp2', 'src-address': '10.0.0.0/8', 'min-prefix': '32' };
    expect(await router.refused('PUT', RULE, all)).toContain('all routes of IPv4 would be passed over');
    expect(await router.refused('PUT', RULE, { table: 'isp2', interface: 'ether99' })).toContain('interface');
  });
});

describe('routes of tables', () => {
  const row = (id: number, values: Record<string, string>): Row => ({ id, values, disabled: false, comment: '' });
  const rows = [
    row(1, { 'dst-address': '10.77.0.0/16', gateway: '10.88.0.1@isp2', scope: '10' }),
    row(2, { 'dst-address': '10.88.0.0/16', gateway: '10.77.0.1@main', scope: '10', 'routing-table': 'isp2' }),
    row(3, { 'dst-address': '10.99.0.0/16', gateway: '10.88.0.1', scope: '10' }),
  ];

  it('that need each other across tables say so', () => {
    const zones = new Map([['main', new Set<string>()]]);
    const loops = rows.map(loopFinder(rows, 'ip', zones));
    expect(loops[0]).toBe('recursion loop: the gateway is looked up by the route itself, through 10.88.0.0/16');
    expect(loops[1]).toContain('recursion loop');
    // A gateway is not looked up in a table that the route is not in.
    expect(loops[2]).toBeUndefined();
  });

  it('that lead to each other in thousands are each looked at once', () => {
    const zones = new Map([['main', new Set<string>()]]);
    const network = (at: number, host: number) => `10.${at >> 8}.${at & 255}.${host}`;
    const chain = (first: string) =>
      Array.from({ length: 3000 }, (_, at) =>
        row(at + 1, {
          'dst-address': `${network(at, 0)}/24`,
          gateway: at === 0 ? first : network(at - 1, 1),
          scope: '10',
        }),
      );
    const open = chain('192.0.2.1');
    expect(new Set(open.map(loopFinder(open, 'ip', zones)))).toEqual(new Set([undefined]));
    const closed = chain(network(2, 1));
    const loops = closed.map(loopFinder(closed, 'ip', zones));
    expect(loops[0]).toBe(
      'recursion loop: the gateway is looked up by the route itself, through 10.0.2.0/24, 10.0.1.0/24',
    );
    expect(loops[2999]).toContain('routes that need each other: 10.0.2.0/24, 10.0.1.0/24, 10.0.0.0/24');
  });
});
