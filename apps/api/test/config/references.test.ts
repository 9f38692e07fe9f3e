import { describe, expect, it } from 'vitest';
import { followRename } from '../../src/config/references.js';
import { parseRowId, rowIdText } from '../../src/config/snapshot.js';
import { ports, snapshotOf } from './rows.js';

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
  const changed = (menu: string, from: string, to: string) =>
    followRename(snapshot, menu, from, to).map(({ menu: path, row }) => [path, row.id, row.values]);

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

describe('row ids', () => {
  it('are a star and upper-case hex', () => {
    expect(rowIdText(0x1f)).toBe('*1F');
    expect(parseRowId('*1f')).toBe(31);
    expect(parseRowId('1F')).toBeUndefined();
    expect(parseRowId('*')).toBeUndefined();
    expect(parseRowId('*123456789')).toBeUndefined();
  });
});
