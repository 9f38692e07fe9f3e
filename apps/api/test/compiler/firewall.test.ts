import type { Chain, Rule } from '@tollway/dataplane-agent';
import { describe, expect, it } from 'vitest';
import { compile } from '../../src/menus/index.js';
import { ports, snapshotOf, type Written } from '../config/rows.js';

const FILTER = '/ip/firewall/filter';
const NAT = '/ip/firewall/nat';
const base = {
  '/interface/ethernet': ports(3),
  '/interface/list': [
    { '.id': '21', name: 'LAN' },
    { '.id': '22', name: 'WAN' },
    { '.id': '23', name: 'BOTH', include: 'LAN,WAN' },
    { '.id': '24', name: 'REST', include: 'all', exclude: 'WAN' },
    { '.id': '25', name: 'EMPTY' },
  ],
  '/interface/list/member': [
    { '.id': '31', list: 'LAN', interface: 'ether3' },
    { '.id': '32', list: 'LAN', interface: 'ether2' },
    { '.id': '33', list: 'WAN', interface: 'ether1' },
    { '.id': '34', list: 'EMPTY', interface: 'ether1', disabled: 'true' },
  ],
  '/ip/firewall/address-list': [
    { '.id': '41', list: 'bad', address: '10.0.0.0/8' },
    { '.id': '42', list: 'good', address: '192.0.2.1' },
    { '.id': '43', list: 'bad', address: '172.16.0.1-172.16.0.9' },
    { '.id': '44', list: 'bad', address: '8.8.8.8', disabled: 'true' },
  ],
};

/** Compiles rules numbered from 100. */
function compiled(rules: readonly Written[], menu = FILTER) {
  const numbered = rules.map((rule, index) => ({ '.id': String(100 + index), ...rule }));
  const { config, invalid } = compile(snapshotOf({ ...base, [menu]: numbered }));
  return { ...config, invalid: Object.fromEntries(invalid) };
}

const rule = (row: number, more: Partial<Rule> = {}): Rule => ({
  row,
  matchers: [],
  action: { kind: 'accept' },
  log: null,
  ...more,
});
const chain = (chains: readonly Chain[], name: string): Rule[] => chains.find((one) => one.name === name)?.rules ?? [];
/** Matchers of one rule in chain forward. */
const matchers = (match: Written) => {
  const { filter, invalid } = compiled([{ chain: 'forward', ...match }]);
  expect(invalid).toEqual({});
  return chain(filter, 'forward')[0]?.matchers;
};

describe('matchers', () => {
  it.each<[Written, unknown]>([
    [{ 'in-interface': 'ether2' }, { kind: 'in-interface', interfaces: [2], negate: false }],
    [{ 'in-interface': '!all-ethernet' }, { kind: 'in-interface', interfaces: [1, 2, 3], negate: true }],
    [{ 'out-interface': '!ether1' }, { kind: 'out-interface', interfaces: [1], negate: true }],
    [{ 'in-interface-list': '!LAN' }, { kind: 'in-interface', interfaces: [2, 3], negate: true }],
    [{ 'out-interface-list': 'BOTH' }, { kind: 'out-interface', interfaces: [1, 2, 3], negate: false }],
    [{ 'out-interface-list': 'REST' }, { kind: 'out-interface', interfaces: [2, 3], negate: false }],
    [{ 'out-interface-list': '!EMPTY' }, { kind: 'out-interface', interfaces: [], negate: true }],
    [{ 'out-interface-list': 'none' }, { kind: 'out-interface', interfaces: [], negate: false }],
    [{ 'in-interface-list': 'all' }, { kind: 'in-interface', interfaces: [1, 2, 3], negate: false }],
    [{ 'in-interface-list': 'static' }, { kind: 'in-interface', interfaces: [1, 2, 3], negate: false }],
    [{ 'in-interface-list': 'none' }, { kind: 'in-interface', interfaces: [], negate: false }],
    [{ 'in-interface-list': 'dynamic' }, { kind: 'in-interface', interfaces: [], negate: false }],
    [{ protocol: '!tcp' }, { kind: 'protocol', protocol: 6, negate: true }],
    [{ protocol: '253' }, { kind: 'protocol', protocol: 253, negate: false }],
    [
      { 'src-address': '10.0.0.0/8' },
      { kind: 'src-address', range: { from: '10.0.0.0', to: '10.255.255.255' }, negate: false },
    ],
    [{ 'dst-address': '!1.1.1.1' }, { kind: 'dst-address', range: { from: '1.1.1.1', to: '1.1.1.1' }, negate: true }],
    [{ 'src-address-list': '!bad' }, { kind: 'src-address-list', list: 0, negate: true }],
    [{ 'dst-address-list': 'good' }, { kind: 'dst-address-list', list: 1, negate: false }],
    [
      { 'connection-state': 'established,related' },
      { kind: 'connection-state', states: ['established', 'related'], negate: false },
    ],
    [{ 'connection-state': '!invalid' }, { kind: 'connection-state', states: ['invalid'], negate: true }],
    [
      { 'connection-nat-state': '!dstnat' },
      { kind: 'connection-nat-state', srcnat: false, dstnat: true, negate: true },
    ],
    [{ 'packet-size': '!1000' }, { kind: 'packet-size', from: 1000, to: 1000, negate: true }],
    [{ 'connection-bytes': '500000-0' }, { kind: 'connection-bytes', from: 500_000, to: 0 }],
    [
      { time: '!22h-6h,sun,sat' },
      { kind: 'time', 'from-ms': 79_200_000, 'to-ms': 21_600_000, days: 65, 'utc-offset-s': 0, negate: true },
    ],
    [{ random: '25' }, { kind: 'random', percent: 25 }],
    [{ nth: '!3,1' }, { kind: 'nth', every: 3, packet: 1, negate: true }],
    [
      { limit: '10/1m,5:packet' },
      { kind: 'limit', rate: 10, 'per-ms': 60_000, burst: 5, unit: 'packet', negate: false },
    ],
    [
      { limit: '!1000000,2000000:bit' },
      { kind: 'limit', rate: 1_000_000, 'per-ms': 1_000, burst: 2_000_000, unit: 'bit', negate: true },
    ],
  ])('%j', (match, expected) => {
    expect(matchers(match)).toEqual([expected]);
  });

  it('conditions that remember packets come last, in the order in which RouterOS asks them', () => {
    const given = matchers({
      limit: '10,5:packet',
      nth: '2,1',
      random: '50',
      'connection-bytes': '1-0',
      time: '0s-1d,mon',
      'packet-size': '64',
      'connection-state': 'new',
    });
    expect(given?.map(({ kind }) => kind)).toEqual([
      'packet-size',
      'connection-state',
      'time',
      'connection-bytes',
      'random',
      'nth',
      'limit',
    ]);
  });

  it('the time of day is that of the clock of the router', () => {
    const rules = [{ '.id': '100', chain: 'forward', time: '8h-17h,mon' }];
    const { config } = compile(snapshotOf({ ...base, [FILTER]: rules }), -3_600);
    expect(chain(config.filter, 'forward')[0]?.matchers).toMatchObject([{ 'utc-offset-s': -3_600 }]);
  });

  it.each<[Written, unknown]>([
    [
      { 'dst-port': '!80,1000-2000' },
      {
        kind: 'dst-port',
        ports: [
          { from: 80, to: 80 },
          { from: 1000, to: 2000 },
        ],
        negate: true,
      },
    ],
    [{ 'src-port': '53' }, { kind: 'src-port', ports: [{ from: 53, to: 53 }], negate: false }],
    [{ port: '0-65535' }, { kind: 'port', ports: [{ from: 0, to: 65_535 }], negate: false }],
    [{ 'tcp-flags': 'syn,!fin,!ack' }, { kind: 'tcp-flags', set: 2, clear: 17, negate: false }],
    [{ 'tcp-flags': '!cwr' }, { kind: 'tcp-flags', set: 0, clear: 128, negate: false }],
  ])('%j of tcp', (match, expected) => {
    expect(matchers({ protocol: 'tcp', ...match })).toEqual([
      { kind: 'protocol', protocol: 6, negate: false },
      expected,
    ]);
  });

  it('ICMP options', () => {
    expect(matchers({ protocol: 'icmp', 'icmp-options': '!3:0-4' })?.[1]).toEqual({
      kind: 'icmp-options',
      'icmp-type': 3,
      'code-from': 0,
      'code-to': 4,
      negate: true,
    });
  });

  it('come in the order of their cost, whatever the order in the row', () => {
    const found = matchers({
      'connection-state': 'new',
      'dst-port': '80',
      'src-address': '10.0.0.0/8',
      protocol: 'tcp',
      'in-interface': 'ether1',
    });
    expect(found?.map(({ kind }) => kind)).toEqual([
      'in-interface',
      'protocol',
      'src-address',
      'dst-port',
      'connection-state',
    ]);
  });

  it('address lists are grouped; a name without entries is a list that matches nothing', () => {
    const { 'address-lists': lists, filter, invalid } = compiled([{ chain: 'forward', 'src-address-list': 'new-one' }]);
    expect(invalid).toEqual({});
    expect(lists).toEqual([
      {
        name: 'bad',
        entries: [
          { from: '10.0.0.0', to: '10.255.255.255' },
          { from: '172.16.0.1', to: '172.16.0.9' },
        ],
      },
      { name: 'good', entries: [{ from: '192.0.2.1', to: '192.0.2.1' }] },
      { name: 'new-one', entries: [] },
    ]);
    expect(chain(filter, 'forward')[0]?.matchers).toEqual([{ kind: 'src-address-list', list: 2, negate: false }]);
  });
});

describe('rules', () => {
  it('keep their order and their rows; disabled ones are dropped', () => {
    const { filter } = compiled([
      { chain: 'input', action: 'drop' },
      { chain: 'forward', action: 'passthrough' },
      { chain: 'input', disabled: 'true' },
      { chain: 'input', action: 'return' },
      { chain: 'output', action: 'fasttrack-connection' },
    ]);
    expect(filter).toEqual([
      { name: 'input', rules: [rule(100, { action: { kind: 'drop' } }), rule(103, { action: { kind: 'return' } })] },
      { name: 'forward', rules: [rule(101, { action: { kind: 'passthrough' } })] },
      { name: 'output', rules: [rule(104, { action: { kind: 'fasttrack-connection' } })] },
    ]);
  });

  it('reject answers as configured, by default network unreachable', () => {
    const { filter } = compiled([
      { chain: 'input', action: 'reject' },
      { chain: 'input', action: 'reject', 'reject-with': 'tcp-reset' },
    ]);
    expect(chain(filter, 'input').map(({ action }) => action)).toEqual([
      { kind: 'reject', with: 'icmp-network-unreachable' },
      { kind: 'reject', with: 'tcp-reset' },
    ]);
  });

  it('log lines come from log=yes and from the action', () => {
    const { filter } = compiled([
      { chain: 'input', log: 'true', 'log-prefix': 'seen' },
      { chain: 'input', action: 'log' },
      { chain: 'input', 'log-prefix': 'unused' },
    ]);
    expect(chain(filter, 'input').map(({ log }) => log)).toEqual(['seen', '', null]);
  });

  it('NAT actions take their targets; what belongs to another action is ignored', () => {
    const { nat, invalid } = compiled(
      [
        { chain: 'srcnat', action: 'masquerade', protocol: 'tcp', 'to-ports': '1024-2047', 'randomise-ports': 'true' },
        { chain: 'srcnat', action: 'src-nat', 'to-addresses': '203.0.113.10-203.0.113.19' },
        { chain: 'dstnat', action: 'dst-nat', 'to-addresses': '192.168.88.10', protocol: 'tcp', 'to-ports': '80' },
        { chain: 'dstnat', action: 'redirect', protocol: 'udp', 'to-ports': '53' },
        { chain: 'srcnat', action: 'accept', 'to-addresses': '203.0.113.10' },
      ],
      NAT,
    );
    expect(invalid).toEqual({});
    expect([...chain(nat, 'srcnat'), ...chain(nat, 'dstnat')].map(({ action }) => action)).toEqual([
      { kind: 'masquerade', 'to-ports': { from: 1024, to: 2047 }, 'randomise-ports': true },
      {
        kind: 'src-nat',
        'to-addresses': { from: '203.0.113.10', to: '203.0.113.19' },
        'to-ports': null,
        'randomise-ports': false,
      },
      { kind: 'accept' },
      {
        kind: 'dst-nat',
        'to-addresses': { from: '192.168.88.10', to: '192.168.88.10' },
        'to-ports': { from: 80, to: 80 },
      },
      { kind: 'redirect', 'to-ports': { from: 53, to: 53 } },
    ]);
  });
});

describe('jumps', () => {
  it('name chains by index, the hooks first', () => {
    const { filter, invalid } = compiled([
      { chain: 'forward', action: 'jump', 'jump-target': 'second' },
      { chain: 'first', action: 'drop' },
      { chain: 'second', action: 'jump', 'jump-target': 'first' },
    ]);
    expect(invalid).toEqual({});
    expect(filter.map(({ name }) => name)).toEqual(['input', 'forward', 'output', 'first', 'second']);
    expect(chain(filter, 'forward')[0]?.action).toEqual({ kind: 'jump', chain: 4 });
    expect(chain(filter, 'second')[0]?.action).toEqual({ kind: 'jump', chain: 3 });
  });

  it('to a chain that does not exist are invalid until it appears', () => {
    const jump = { chain: 'forward', action: 'jump', 'jump-target': 'later' };
    const without = compiled([jump, { chain: 'forward', action: 'drop' }]);
    expect(without.invalid).toEqual({ 100: 'jump-target: there is no chain later' });
    expect(chain(without.filter, 'forward')).toEqual([rule(101, { action: { kind: 'drop' } })]);
    const healed = compiled([jump, { chain: 'forward', action: 'drop' }, { chain: 'later', action: 'accept' }]);
    expect(healed.invalid).toEqual({});
    expect(chain(healed.filter, 'forward')).toHaveLength(2);
  });

  it('to a chain whose rules are all switched off go there and come back', () => {
    const { filter, invalid } = compiled([
      { chain: 'forward', action: 'jump', 'jump-target': 'off' },
      { chain: 'off', action: 'drop', disabled: 'true' },
    ]);
    expect(invalid).toEqual({});
    expect(chain(filter, 'off')).toEqual([]);
    expect(chain(filter, 'forward')[0]?.action).toEqual({ kind: 'jump', chain: 3 });
  });

  it('in a circle are invalid, those that lead there are not', () => {
    const { invalid } = compiled([
      { chain: 'forward', action: 'jump', 'jump-target': 'a' },
      { chain: 'a', action: 'jump', 'jump-target': 'b' },
      { chain: 'b', action: 'jump', 'jump-target': 'a' },
      { chain: 'c', action: 'jump', 'jump-target': 'c' },
    ]);
    expect(invalid).toEqual({
      101: 'jump-target: chain b leads back to chain a',
      102: 'jump-target: chain a leads back to chain b',
      103: 'jump-target: chain c leads back to chain c',
    });
  });

  it('a circle that a disabled rule opens is none', () => {
    const { invalid } = compiled([
      { chain: 'a', action: 'jump', 'jump-target': 'b' },
      { chain: 'b', action: 'jump', 'jump-target': 'a', disabled: 'true' },
    ]);
    expect(invalid).toEqual({});
  });

  it('nested deeper than the data plane follows are invalid, the others stay', () => {
    const jump = (from: string, to: string): Written => ({ chain: from, action: 'jump', 'jump-target': to });
    const ladder = Array.from({ length: 20 }, (_, step) => jump(`c${step}`, `c${step + 1}`));
    const { filter, invalid } = compiled([...ladder, { chain: 'c20' }]);
    expect(Object.keys(invalid)).toEqual(['103']);
    expect(invalid[103]).toContain('nested deeper than 16');
    expect(chain(filter, 'c0')).toHaveLength(1);
  });

  it('to a built-in chain are invalid', () => {
    const { invalid } = compiled([{ chain: 'forward', action: 'jump', 'jump-target': 'input' }]);
    expect(invalid[100]).toContain('input is a built-in chain');
  });
});

describe('rules that cannot work', () => {
  it.each<[Written, string]>([
    [{ 'in-interface': 'ether9' }, 'in-interface: there is no interface ether9'],
    [{ 'out-interface-list': 'EMPTY' }, 'out-interface-list: interface list EMPTY has no members'],
    [{ 'out-interface-list': '!GONE' }, 'out-interface-list: there is no interface list GONE'],
    [{ action: 'jump' }, 'jump-target is not set'],
    [{ action: 'tarpit' }, 'action: tarpit is no action of a filter rule'],
    [{ 'src-address': 'nonsense' }, 'src-address: nonsense is no address, prefix or range'],
    [{ protocol: 'tcp', 'dst-port': '80,x' }, 'dst-port: x is no port or range of ports'],
  ])('%j', (match, reason) => {
    const { filter, invalid } = compiled([{ chain: 'forward', ...match }]);
    expect(invalid).toEqual({ 100: reason });
    expect(chain(filter, 'forward')).toEqual([]);
  });

  it('heal when the interface is back under its name', () => {
    const rules = [{ '.id': '100', chain: 'forward', 'in-interface': 'ether4' }];
    expect(compile(snapshotOf({ ...base, [FILTER]: rules })).invalid.size).toBe(1);
    const more = { ...base, '/interface/ethernet': ports(4), [FILTER]: rules };
    expect(compile(snapshotOf(more)).invalid.size).toBe(0);
  });

  it('a NAT action in a chain that the wrong hook reaches', () => {
    const { nat, invalid } = compiled(
      [
        { chain: 'dstnat', action: 'jump', 'jump-target': 'own' },
        { chain: 'own', action: 'jump', 'jump-target': 'deeper' },
        { chain: 'deeper', action: 'masquerade' },
        { chain: 'own', action: 'redirect' },
        { chain: 'unreached', action: 'masquerade' },
      ],
      NAT,
    );
    expect(invalid).toEqual({
      102: 'action: masquerade works in srcnat only, and chain deeper is reached from dstnat',
    });
    expect(chain(nat, 'own').map(({ row }) => row)).toEqual([101, 103]);
  });

  it('interface lists that include each other end', () => {
    const { config, invalid } = compile(
      snapshotOf({
        '/interface/ethernet': ports(2),
        '/interface/list': [
          { name: 'A', include: 'B' },
          { name: 'B', include: 'A' },
        ],
        '/interface/list/member': [{ list: 'B', interface: 'ether2' }],
        [FILTER]: [{ chain: 'input', 'in-interface-list': 'A' }],
      }),
    );
    expect(invalid.size).toBe(0);
    expect(chain(config.filter, 'input')[0]?.matchers).toEqual([
      { kind: 'in-interface', interfaces: [2], negate: false },
    ]);
  });
});
