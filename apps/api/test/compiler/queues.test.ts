import { menuByPath } from '@tollway/schema';
import { describe, expect, it } from 'vitest';
import { markOf } from '../../src/compiler/marks.js';
import { verifyAdd } from '../../src/config/verify.js';
import { compile, menuChecks } from '../../src/menus/index.js';
import type { ConfigSnapshot } from '../../src/snapshot/snapshot.js';
import { added, ports, snapshotOf } from '../config/rows.js';

/** A configuration of rows that were added in turn, on a router with two ports. */
const configured = (...rows: readonly [menu: string, body: Record<string, unknown>][]): ConfigSnapshot =>
  added(
    snapshotOf({ '/interface/ethernet': ports(2) }),
    rows.map(([menu, body]) => ({ menu, body })),
  );

const compiled = (...rows: readonly [menu: string, body: Record<string, unknown>][]) => {
  const { config, invalid } = compile(configured(...rows));
  expect(Object.fromEntries(invalid)).toEqual({});
  return config;
};

describe('queue types', () => {
  const typed = (kind: string, body: Record<string, unknown> = {}) =>
    compiled(['/queue/type', { name: 'mine', kind, ...body }], ['/queue/tree', { parent: 'global', queue: 'mine' }])[
      'queue-types'
    ];

  it.each([
    ['none', {}, { kind: 'none' }],
    ['pfifo', {}, { kind: 'pfifo', limit: 50 }],
    ['bfifo', { 'bfifo-limit': '30KiB' }, { kind: 'bfifo', limit: 30_720 }],
    ['mq-pfifo', {}, { kind: 'mq-pfifo', limit: 50 }],
    ['red', {}, { kind: 'red', limit: 60, 'min-threshold': 10, 'max-threshold': 50, burst: 20, 'avg-packet': 1_000 }],
    ['sfq', { 'sfq-perturb': '10' }, { kind: 'sfq', 'perturb-s': 10, allot: 1_514 }],
    [
      'pcq',
      { 'pcq-classifier': 'dst-port,src-address', 'pcq-rate': '1M', 'pcq-limit': '1MiB', 'pcq-src-address-mask': '24' },
      {
        kind: 'pcq',
        rate: 1_000_000,
        limit: 1_048_576,
        'total-limit': 2_048_000,
        classifier: ['src-address', 'dst-port'],
        'burst-rate': 0,
        'burst-threshold': 0,
        'burst-time-ms': 10_000,
        'src-address-mask': 24,
        'dst-address-mask': 32,
        'src-address6-mask': 128,
        'dst-address6-mask': 128,
      },
    ],
    [
      'codel',
      { 'codel-ce-threshold': '1ms500us', 'codel-ecn': 'yes' },
      {
        kind: 'codel',
        limit: 1_000,
        'target-us': 5_000,
        'interval-us': 100_000,
        ecn: true,
        'ce-threshold-us': 1_500,
      },
    ],
    [
      'fq-codel',
      {},
      {
        kind: 'fq-codel',
        codel: { limit: 10_240, 'target-us': 5_000, 'interval-us': 100_000, ecn: true, 'ce-threshold-us': 0 },
        flows: 1_024,
        quantum: 1_514,
        'memory-limit': 33_554_432,
      },
    ],
  ])('%s', (kind, body, expected) => {
    expect(typed(kind, body)).toEqual([expected]);
  });

  const cake = {
    kind: 'cake',
    bandwidth: 0,
    'autorate-ingress': false,
    overhead: 0,
    mpu: 0,
    atm: 'none',
    'rtt-us': 100_000,
    diffserv: 'diffserv3',
    flowmode: 'triple-isolate',
    nat: false,
    wash: false,
    'ack-filter': 'none',
    'memory-limit': 0,
  };

  it.each([
    ['at its defaults', {}, {}],
    ['at Ethernet with a VLAN', { 'cake-overhead-scheme': 'ethernet,ether-vlan' }, { overhead: 42, mpu: 84 }],
    [
      'at DOCSIS and a byte less',
      { 'cake-overhead-scheme': 'docsis', 'cake-overhead': '-1' },
      { overhead: 17, mpu: 64 },
    ],
    ['at the safe choice', { 'cake-overhead-scheme': 'conservative' }, { overhead: 48, atm: 'atm' }],
    [
      'at VDSL without its cells',
      { 'cake-overhead-scheme': 'pppoe-vcmux', 'cake-atm': 'ptm' },
      { overhead: 32, atm: 'ptm' },
    ],
    ['raw', { 'cake-overhead-scheme': 'raw', 'cake-mpu': '64' }, { mpu: 64 }],
    ['in a data centre', { 'cake-rtt-scheme': 'datacentre', 'cake-rtt': '1s' }, { 'rtt-us': 100 }],
    ['over a satellite', { 'cake-rtt-scheme': 'satellite' }, { 'rtt-us': 1_000_000 }],
    ['with a round trip time', { 'cake-rtt': '250us' }, { 'rtt-us': 250 }],
    [
      'with all else',
      {
        'cake-bandwidth': '50M',
        'cake-autorate-ingress': 'yes',
        'cake-diffserv': 'besteffort',
        'cake-flowmode': 'dual-dsthost',
        'cake-nat': 'yes',
        'cake-wash': 'yes',
        'cake-ack-filter': 'aggressive',
        'cake-memlimit': '4MiB',
      },
      {
        bandwidth: 50_000_000,
        'autorate-ingress': true,
        diffserv: 'besteffort',
        flowmode: 'dual-dsthost',
        nat: true,
        wash: true,
        'ack-filter': 'aggressive',
        'memory-limit': 4_194_304,
      },
    ],
  ])('cake %s', (_what, body, differs) => {
    expect(typed('cake', body)).toEqual([{ ...cake, ...differs }]);
  });

  it('are listed once each, and only those in use', () => {
    const config = compiled(
      ['/queue/type', { name: 'unused', kind: 'sfq' }],
      ['/queue/simple', { target: '10.0.0.1', queue: 'pcq-upload-default/pcq-download-default' }],
      ['/queue/simple', { target: '10.0.0.2', queue: 'default/pcq-download-default' }],
      ['/queue/tree', { parent: 'global', queue: 'default' }],
    );
    expect(config['queue-types']?.map(({ kind }) => kind)).toEqual(['pcq', 'pcq', 'pfifo']);
    const used = config['simple-queues']?.map(({ upload, download }) => [upload['queue-type'], download['queue-type']]);
    expect(used).toEqual([
      [0, 1],
      [2, 1],
    ]);
  });
});

describe('simple queues', () => {
  it('take everything over, in the units of the data plane', () => {
    const config = compiled([
      '/queue/simple',
      {
        name: 'a',
        target: '10.0.0.9/8,2001:DB8:0:0::9,ether2',
        dst: 'ether1',
        'packet-marks': 'voip,no-mark',
        'limit-at': '1M/2M',
        'max-limit': '10M/20M',
        'burst-limit': '15M/25M',
        'burst-threshold': '8M/16M',
        'burst-time': '16s/8',
        'bucket-size': '0.25/10',
        priority: '3/5',
        queue: 'default/default-small',
        time: '!8h-17h,mon',
        'total-max-limit': '25M',
        'total-priority': '2',
        'total-bucket-size': '0',
        'total-queue': 'default',
      },
    ]);
    expect(config['simple-queues']).toEqual([
      {
        row: 3,
        targets: [
          { address: '10.0.0.0', 'prefix-len': 8 },
          { address: '2001:db8::9', 'prefix-len': 128 },
          { interface: 2 },
        ],
        dst: { interface: 1 },
        'packet-marks': [markOf('voip'), 0],
        parent: null,
        time: { 'from-ms': 28_800_000, 'to-ms': 61_200_000, days: 2, 'utc-offset-s': 0, negate: true },
        upload: {
          'limit-at': 1_000_000,
          'max-limit': 10_000_000,
          'burst-limit': 15_000_000,
          'burst-threshold': 8_000_000,
          'burst-time-ms': 16_000,
          'bucket-ms': 250,
          priority: 3,
          'queue-type': 0,
        },
        download: {
          'limit-at': 2_000_000,
          'max-limit': 20_000_000,
          'burst-limit': 25_000_000,
          'burst-threshold': 16_000_000,
          'burst-time-ms': 8_000,
          'bucket-ms': 10_000,
          priority: 5,
          'queue-type': 1,
        },
        total: {
          'limit-at': 0,
          'max-limit': 25_000_000,
          'burst-limit': 0,
          'burst-threshold': 0,
          'burst-time-ms': 0,
          'bucket-ms': 0,
          priority: 2,
          'queue-type': 0,
        },
      },
    ]);
    expect(config['mark-names']).toEqual([{ mark: markOf('voip'), name: 'voip' }]);
  });

  it('have both directions together held where a rate says so, and then below it too', () => {
    const config = compiled(
      ['/queue/simple', { name: 'top', target: '10.0.0.0/8' }],
      ['/queue/simple', { name: 'held', target: '10.0.0.0/8', parent: 'top', 'total-max-limit': '5M' }],
      ['/queue/simple', { name: 'below', target: '10.0.0.1', parent: 'held', 'total-queue': 'default' }],
      ['/queue/simple', { name: 'beside', target: '10.0.0.2', parent: 'top', 'total-queue': 'default' }],
    );
    const queues = config['simple-queues'] ?? [];
    expect(queues.map(({ parent }) => parent)).toEqual([null, 3, 4, 3]);
    expect(queues.map(({ total }) => total?.['max-limit'])).toEqual([undefined, 5_000_000, 0, undefined]);
    expect(config['queue-types']?.[queues[2]?.total?.['queue-type'] ?? -1]).toEqual({ kind: 'pfifo', limit: 50 });
  });

  it('have what is said of both directions together in force below such a parent, also without a rate', () => {
    const child = {
      name: 'child',
      target: '10.0.0.1',
      'total-queue': 'pcq-upload-default',
      'total-priority': '3',
      'total-bucket-size': '2',
      'total-burst-limit': '4M',
      'total-burst-threshold': '2M',
      'total-burst-time': '8s',
    };
    const parent = { name: 'top', target: '10.0.0.0/8' };
    const childTotal = (held: Record<string, unknown>, changes: Record<string, unknown> = {}) => {
      const config = compiled(
        ['/queue/simple', { ...parent, ...held }],
        ['/queue/simple', { ...child, parent: 'top', ...changes }],
      );
      const total = config['simple-queues']?.[1]?.total;
      return total && { ...total, 'queue-type': config['queue-types']?.[total['queue-type'] ?? -1]?.kind };
    };
    const expected = {
      'limit-at': 0,
      'max-limit': 0,
      'burst-limit': 4_000_000,
      'burst-threshold': 2_000_000,
      'burst-time-ms': 8_000,
      'bucket-ms': 2_000,
      priority: 3,
      'queue-type': 'pcq',
    };
    expect(childTotal({ 'total-max-limit': '10M' })).toEqual(expected);
    expect(childTotal({})).toBeNull();
    expect(childTotal({ 'total-max-limit': '10M' }, { 'total-priority': '7' })).toEqual({ ...expected, priority: 7 });
  });

  it('stand in list order, wherever their parents stand', () => {
    const rows = snapshotOf({
      '/queue/simple': [
        { name: 'a', target: '10.0.0.1/32', parent: 'b' },
        { name: 'b', target: '10.0.0.0/8', parent: 'c' },
        { name: 'c', target: '10.0.0.0/8' },
      ],
    });
    expect(compile(rows).config['simple-queues']?.map(({ row, parent }) => [row, parent])).toEqual([
      [1, 2],
      [2, 3],
      [3, null],
    ]);
  });

  it('cannot work below a queue that is off, cannot work or does not exist, in circles, or too deep', () => {
    const target = '10.0.0.0/8';
    const chain = Array.from({ length: 9 }, (_, level) => ({
      name: `level${level + 1}`,
      target,
      parent: level === 0 ? 'none' : `level${level}`,
    }));
    const { config, invalid } = compile(
      snapshotOf({
        '/queue/simple': [
          { name: 'off', target, disabled: 'true' },
          { name: 'below-off', target, parent: 'off' },
          { name: 'further', target, parent: 'below-off' },
          { name: 'broken', target: 'ether9' },
          { name: 'below-broken', target, parent: 'broken' },
          { name: 'orphan', target, parent: 'nobody' },
          { name: 'x', target, parent: 'y' },
          { name: 'y', target, parent: 'x' },
          { name: 'typeless', target, queue: 'gone/default' },
          ...chain,
        ],
      }),
    );
    expect(Object.fromEntries(invalid)).toEqual({
      2: 'parent: off is disabled',
      3: 'parent: below-off cannot work',
      4: 'target: there is no interface ether9',
      5: 'parent: broken cannot work',
      6: 'parent: there is no queue nobody',
      7: 'parent: its parents lead back to x',
      8: 'parent: its parents lead back to x',
      9: 'queue type gone does not exist',
      18: 'parent: queues nest at most 8 levels deep',
    });
    expect(config['simple-queues']?.map(({ row }) => row)).toEqual([10, 11, 12, 13, 14, 15, 16, 17]);
  });
});

describe('queue trees and queues of interfaces', () => {
  it('know global, interfaces and nodes as parents', () => {
    const config = compiled(
      ['/queue/tree', { name: 'all', parent: 'global', 'max-limit': '50M' }],
      ['/queue/tree', { name: 'wan', parent: 'ether1', 'packet-mark': 'a,b', 'bucket-size': '0' }],
      ['/queue/tree', { name: 'leaf', parent: 'wan', 'packet-mark': 'no-mark', priority: '1' }],
    );
    expect(config['tree-queues']?.map(({ row, parent, 'packet-marks': marks }) => ({ row, parent, marks }))).toEqual([
      { row: 3, parent: { kind: 'global' }, marks: [] },
      { row: 4, parent: { kind: 'interface', interface: 1 }, marks: [markOf('a'), markOf('b')] },
      { row: 5, parent: { kind: 'queue', row: 4 }, marks: [0] },
    ]);
    expect(config['tree-queues']?.[2]?.limit).toMatchObject({ priority: 1, 'bucket-ms': 100 });
    expect(config['queue-types']).toEqual([{ kind: 'pfifo', limit: 10 }]);
  });

  it('of interfaces are reported where they keep packets beside the port', () => {
    const snapshot = snapshotOf({
      '/interface/ethernet': [
        { name: 'ether1', 'default-name': 'ether1', queue: 'default' },
        { name: 'ether2', 'default-name': 'ether2', queue: 'only-hardware-queue' },
        { name: 'ether3', 'default-name': 'ether3' },
      ],
    });
    const { config } = compile(snapshot);
    expect(config['interface-queues']).toEqual([{ interface: 1, 'queue-type': 0 }]);
    expect(config['queue-types']).toEqual([{ kind: 'pfifo', limit: 50 }]);
  });
});

describe('marks', () => {
  it('are numbers of their names alone, and none is 0', () => {
    // FNV-1a of "foobar", from the reference's test vectors.
    expect(markOf('foobar')).toBe(0xbf9c_f968);
    expect(markOf('')).toBe(0x811c_9dc5);
  });

  /** Two names with one number, found by trying. */
  const TWINS = ['costarring', 'liquid'] as const;

  it('that have the same number make the later row invalid', () => {
    expect(markOf(TWINS[0])).toBe(markOf(TWINS[1]));
    const { config, invalid } = compile(
      snapshotOf({
        '/ip/firewall/mangle': TWINS.map((name) => ({
          chain: 'prerouting',
          action: 'mark-packet',
          'new-packet-mark': name,
        })),
        '/queue/tree': [{ name: 'q', parent: 'global', 'packet-mark': TWINS[0] }],
      }),
    );
    expect(Object.fromEntries(invalid)).toEqual({
      2: 'mark liquid has the same number as mark costarring; give one of them another name',
    });
    expect(config['mark-names']).toEqual([{ mark: markOf(TWINS[0]), name: TWINS[0] }]);
    expect(config['tree-queues']).toHaveLength(1);
  });
});

describe('mangle', () => {
  const mangle = (body: Record<string, unknown>): [string, Record<string, unknown>] => [
    '/ip/firewall/mangle',
    { chain: 'prerouting', ...body },
  ];

  it('marks, writes, and goes on where passthrough says so', () => {
    const config = compiled(
      mangle({ action: 'mark-connection', 'new-connection-mark': 'c', 'connection-mark': 'no-mark' }),
      mangle({ action: 'mark-packet', 'new-packet-mark': 'p', 'connection-mark': '!c', passthrough: 'no' }),
      mangle({ action: 'mark-routing', 'new-routing-mark': 'main', 'packet-mark': 'p', dscp: '!46' }),
      mangle({ chain: 'forward', action: 'change-dscp', 'new-dscp': '10', passthrough: 'no' }),
      mangle({ chain: 'forward', action: 'change-mss', 'new-mss': '1400', protocol: 'tcp', 'packet-size': '0-100' }),
      mangle({ chain: 'postrouting', action: 'change-mss', 'new-mss': 'clamp-to-pmtu', protocol: 'tcp' }),
      mangle({ chain: 'forward', action: 'fasttrack-connection' }),
    );
    const rules = config.mangle?.flatMap(({ name, rules }) =>
      rules.map(({ matchers, action }) => ({ name, matchers, action })),
    );
    const [c, p] = ['c', 'p'].map(markOf);
    expect(rules?.map(({ action }) => action)).toEqual([
      { kind: 'mark-connection', mark: c, passthrough: true },
      { kind: 'mark-packet', mark: p, passthrough: false },
      { kind: 'mark-routing', mark: 0, passthrough: true },
      { kind: 'change-dscp', dscp: 10, passthrough: false },
      { kind: 'change-mss', mss: { kind: 'value', bytes: 1_400 }, passthrough: true },
      { kind: 'fasttrack-connection' },
      { kind: 'change-mss', mss: { kind: 'clamp-to-pmtu' }, passthrough: true },
    ]);
    expect(rules?.slice(0, 3).map(({ matchers }) => matchers)).toEqual([
      [{ kind: 'connection-mark', mark: 0, negate: false }],
      [{ kind: 'connection-mark', mark: c, negate: true }],
      [
        { kind: 'packet-mark', mark: p, negate: false },
        { kind: 'dscp', dscp: 46, negate: true },
      ],
    ]);
    expect(config['mark-names']?.map(({ name }) => name).sort()).toEqual(['c', 'p']);
  });

  it.each([
    ['a mark to set', { action: 'mark-packet' }, /new-packet-mark is required when action is mark-packet/],
    ['a DSCP to write', { action: 'change-dscp' }, /new-dscp is required/],
    ['TCP for segment sizes', { action: 'change-mss', 'new-mss': '1400' }, /only if protocol is tcp/],
    [
      'a chain before routing',
      { chain: 'forward', action: 'mark-routing', 'new-routing-mark': 'main' },
      /prerouting and output only/,
    ],
    ['a size within bounds', { action: 'change-mss', 'new-mss': '39', protocol: 'tcp' }, /out of range/],
    [
      'no outgoing interface yet',
      { 'out-interface': 'ether1' },
      /outgoing interface matching is not possible in chain prerouting/,
    ],
    ['no verdicts', { action: 'drop' }, /drop is not one of accept, jump/],
    [
      'no mark that it does not set',
      { action: 'accept', 'new-packet-mark': 'x' },
      /applies only when action is mark-packet/,
    ],
  ])('needs %s', (_what, body, detail) => {
    const menu = menuByPath('/ip/firewall/mangle');
    if (menu === undefined) throw new Error('no menu');
    const verified = verifyAdd(
      menuChecks,
      menu,
      { chain: 'prerouting', ...body },
      snapshotOf({ '/interface/ethernet': ports(1) }),
    );
    expect(verified.ok ? '' : verified.errors[0].detail).toMatch(detail);
  });

  it('for routing is not reached from hooks behind it', () => {
    const { invalid } = compile(
      configured(
        mangle({ chain: 'own', action: 'mark-routing', 'new-routing-mark': 'main' }),
        mangle({ chain: 'forward', action: 'jump', 'jump-target': 'own' }),
      ),
    );
    expect([...invalid.values()]).toEqual([
      'action: mark-routing works in prerouting and output only, and chain own is reached from forward',
    ]);
  });

  it('keeps the names of marks over commits that change other rows', () => {
    const before = configured(mangle({ action: 'mark-packet', 'new-packet-mark': 'kept' }));
    compile(before);
    const after = added(before, [{ menu: '/ip/firewall/mangle', body: { chain: 'forward', action: 'accept' } }]);
    expect(compile(after).config['mark-names']?.map(({ name }) => name)).toEqual(['kept']);
  });
});
