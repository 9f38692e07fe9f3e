import { describe, expect, it } from 'vitest';
import { Draft, type StoredSnapshot } from '../../src/config/draft.js';
import { followRename } from '../../src/config/references.js';
import { type ConfigSnapshot, parseRowId, rowIdText } from '../../src/snapshot/snapshot.js';
import { ports, snapshotOf } from './rows.js';

function draftOf(snapshot: ConfigSnapshot): Draft {
  const ranked = [...snapshot].map(([menu, rows]) => [menu, rows.map((row, rank) => ({ ...row, rank }))] as const);
  const stored: StoredSnapshot = new Map(ranked);
  return new Draft(stored, () => {
    throw new Error('no row is added here');
  });
}

describe('references follow a rename', () => {
  const snapshot = snapshotOf({
    '/interface/ethernet': ports(2),
    '/interface/list': [{ name: 'LAN' }, { name: 'ALL', include: 'LAN,WAN', exclude: 'LAN' }],
    '/interface/list/member': [{ list: 'LAN', interface: 'ether2' }],
    '/ip/address': [{ address: '10.0.0.1/24', interface: 'ether2' }],
    '/ip/route': [{ gateway: 'ether2' }, { gateway: '10.0.0.2%ether2' }, { gateway: '10.0.0.2' }],
    '/ip/firewall/filter': [
      { chain: 'ether2', 'in-interface': '!ether2', 'out-interface': 'ether1', 'in-interface-list': '!LAN' },
      { chain: 'forward', 'src-address-list': 'LAN' },
    ],
  });
  const changed = (menu: string, from: string, to: string) => {
    const draft = draftOf(snapshot);
    followRename(draft, menu, from, to);
    return draft.finish().changes.map(({ menu: path, id, after }) => [path, id, after?.values]);
  };

  it('of an interface', () => {
    expect(changed('/interface/ethernet', 'ether2', 'lan')).toEqual([
      ['/interface/list/member', 5, { list: 'LAN', interface: 'lan' }],
      ['/ip/address', 6, { address: '10.0.0.1/24', interface: 'lan' }],
      [
        '/ip/firewall/filter',
        10,
        { chain: 'ether2', 'in-interface': '!lan', 'out-interface': 'ether1', 'in-interface-list': '!LAN' },
      ],
      ['/ip/route', 7, { gateway: 'lan' }],
      ['/ip/route', 8, { gateway: '10.0.0.2%lan' }],
    ]);
  });

  it('of an interface list', () => {
    expect(changed('/interface/list', 'LAN', 'HOME')).toEqual([
      ['/interface/list/member', 5, { list: 'HOME', interface: 'ether2' }],
      ['/interface/list', 4, { name: 'ALL', include: 'HOME,WAN', exclude: 'HOME' }],
      [
        '/ip/firewall/filter',
        10,
        { chain: 'ether2', 'in-interface': '!ether2', 'out-interface': 'ether1', 'in-interface-list': '!HOME' },
      ],
    ]);
  });
});

describe('many renames', () => {
  it('look through the rows once, not once each', () => {
    const queues = Array.from({ length: 20_000 }, (_, n) => ({
      name: `q${n}`,
      target: '10.0.0.1/32',
      ...(n > 0 && { parent: `q${n - 1}` }),
    }));
    const snapshot = snapshotOf({ '/interface/ethernet': ports(2), '/queue/simple': queues });
    const timed = (count: number): number => {
      const draft = draftOf(snapshot);
      const start = performance.now();
      for (let n = 0; n < count; n += 1) followRename(draft, '/queue/simple', `q${n}`, `renamed${n}`);
      const took = performance.now() - start;
      expect(draft.finish().changes.map(({ after }) => after?.values.parent)).toEqual(
        Array.from({ length: count }, (_, n) => `renamed${n}`),
      );
      return took;
    };
    const [one, thousand] = [Math.min(timed(1), timed(1)), timed(1_000)];
    // A walk for each would take a thousand times as long.
    expect(thousand).toBeLessThan(20 * one + 500);
  });
});

describe('row ids', () => {
  it('are a star and upper-case hex', () => {
    expect(rowIdText(0x1f)).toBe('*1F');
    expect(parseRowId('*1f')).toBe(31);
    expect(parseRowId('1F')).toBeUndefined();
    expect(parseRowId('*')).toBeUndefined();
    expect(parseRowId('*123456789')).toBeUndefined();
  });
});
