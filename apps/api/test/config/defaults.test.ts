import { describe, expect, it } from 'vitest';
import { type DefaultRow, defaultConfiguration } from '../../src/config/defaults.js';
import { compile } from '../../src/menus/index.js';
import { added, ports, snapshotOf } from './rows.js';

/** The default rows as a client would add them, on a router with `count` ports. */
function applied(rows: readonly DefaultRow[], count: number) {
  const base = snapshotOf({ '/interface/ethernet': ports(count) });
  return added(
    base,
    rows.map(({ menu, values, comment }) => ({ menu, body: { ...values, comment } })),
  );
}

const names = (count: number) => ports(count).map(({ name }) => name ?? '');
const addresses = (rows: readonly DefaultRow[]) =>
  rows.filter(({ menu }) => menu === '/ip/address').map(({ values }) => `${values.interface} ${values.address}`);

describe('default configuration', () => {
  it.each<['lab' | 'memory' | 'ports', number]>([
    ['lab', 3],
    ['memory', 2],
    ['lab', 2],
    ['ports', 1],
    ['ports', 2],
    ['ports', 5],
  ])(
    '%s with %i ports passes verification unchanged, and every rule works that has its interfaces',
    (profile, count) => {
      const rows = defaultConfiguration(profile, names(count));
      const snapshot = applied(rows, count);
      for (const { menu, values } of rows) {
        expect(snapshot.get(menu)?.map((row) => row.values)).toContainEqual(values);
      }
      const { config, invalid } = compile(snapshot);
      // The only port belongs to the LAN: until there is a way out, those two wait for it.
      const waiting = count === 1 ? 1 : 0;
      expect([...invalid.values()].sort()).toEqual(
        ['in', 'out'].slice(0, 2 * waiting).map((way) => `${way}-interface-list: interface list WAN has no members`),
      );
      expect(config.filter.map((chain) => [chain.name, chain.rules.length])).toEqual([
        ['input', 4],
        ['forward', 4 - waiting],
        ['output', 0],
      ]);
      expect(config.nat.map((chain) => [chain.name, chain.rules.length])).toEqual([
        ['srcnat', 1 - waiting],
        ['dstnat', 0],
      ]);
      expect(rows.every(({ comment }) => comment.startsWith('defconf'))).toBe(true);
    },
  );

  it('the lab has its networks and the way out', () => {
    const rows = defaultConfiguration('lab', names(3));
    expect(addresses(rows)).toEqual(['ether1 203.0.113.2/24', 'ether2 192.168.88.1/24', 'ether3 192.168.89.1/24']);
    expect(rows).toContainEqual({
      menu: '/ip/route',
      values: { 'dst-address': '0.0.0.0/0', gateway: '203.0.113.1' },
      disabled: false,
      comment: 'defconf',
    });
  });

  it('memory ports have the way out, and nobody is limited', () => {
    const rows = defaultConfiguration('memory', names(2));
    expect(addresses(rows)).toEqual(['ether1 203.0.113.2/24', 'ether2 192.168.88.1/24']);
    expect(rows.map(({ menu }) => menu)).toContain('/ip/route');
    expect(rows.map(({ menu }) => menu)).not.toContain('/queue/simple');
  });

  it('fasttrack stands before the rule that accepts the same packets', () => {
    const { config } = compile(applied(defaultConfiguration('lab', names(3)), 3));
    const forward = config.filter.find(({ name }) => name === 'forward')?.rules.map(({ action }) => action.kind);
    expect(forward).toEqual(['fasttrack-connection', 'accept', 'drop', 'drop']);
  });

  it('claimed ports leave WAN without address and say so', () => {
    const rows = defaultConfiguration('ports', names(3));
    expect(addresses(rows)).toEqual(['ether2 192.168.88.1/24', 'ether3 192.168.89.1/24']);
    expect(rows.some(({ menu }) => menu === '/ip/route')).toBe(false);
    const wan = rows.find(({ values }) => values.list === 'WAN');
    expect(wan?.values.interface).toBe('ether1');
    expect(wan?.comment).toContain('address');
  });

  it('a single port is LAN', () => {
    const rows = defaultConfiguration('ports', ['ether1']);
    expect(addresses(rows)).toEqual(['ether1 192.168.88.1/24']);
    expect(rows.some(({ values }) => values.list === 'WAN')).toBe(false);
  });

  it('none, and no ports, is nothing', () => {
    expect(defaultConfiguration('none', names(3))).toEqual([]);
    expect(defaultConfiguration('lab', [])).toEqual([]);
  });
});
