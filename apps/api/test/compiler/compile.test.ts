import { menuByPath, registry } from '@tollway/schema';
import { describe, expect, it } from 'vitest';
import { markOf } from '../../src/compiler/marks.js';
import { compile } from '../../src/menus/index.js';
import type { ConfigSnapshot, Row } from '../../src/snapshot/snapshot.js';
import { storagesOf } from '../../src/snapshot/storage.js';
import { ports, snapshotOf } from '../config/rows.js';

describe('compile', () => {
  it('an empty configuration gives the defaults of the agent', () => {
    const { config, invalid } = compile(new Map());
    expect(invalid.size).toBe(0);
    expect(config).toEqual({
      format: 7,
      settings: {
        'ip-forward': true,
        'rp-filter': 'no',
        'flow-offload': false,
        'allow-fast-path': true,
        'fasttrack-mode': 'cached',
        'max-neighbor-entries': 8192,
        'arp-timeout-ms': 30_000,
        'icmp-rate-limit-ms': 10,
        'icmp-rate-mask': 0x1818,
        'icmp-errors-use-inbound-interface-address': false,
        'send-redirects': true,
        'accept-redirects': false,
        'secure-redirects': true,
        'accept-source-route': false,
        'fragment-bytes': 4_194_304,
        'fragment-time-ms': 5_000,
        'tcp-syncookies': false,
        'tcp-timestamps': 'random-offset',
      },
      tracking: {
        enabled: 'auto',
        'tcp-syn-sent-timeout-ms': 5_000,
        'tcp-syn-received-timeout-ms': 5_000,
        'tcp-established-timeout-ms': 86_400_000,
        'tcp-fin-wait-timeout-ms': 10_000,
        'tcp-close-wait-timeout-ms': 10_000,
        'tcp-last-ack-timeout-ms': 10_000,
        'tcp-time-wait-timeout-ms': 10_000,
        'tcp-close-timeout-ms': 10_000,
        'tcp-max-retrans-timeout-ms': 300_000,
        'tcp-unacked-timeout-ms': 300_000,
        'loose-tcp-tracking': true,
        'liberal-tcp-tracking': false,
        'udp-timeout-ms': 30_000,
        'udp-stream-timeout-ms': 180_000,
        'icmp-timeout-ms': 10_000,
        'generic-timeout-ms': 600_000,
        'max-entries': 262_144,
      },
      interfaces: [],
      addresses: [],
      routes: [],
      'routing-tables': [],
      'routing-rules': [],
      neighbors: [],
      'address-lists': [],
      filter: ['input', 'forward', 'output'].map((name) => ({ name, rules: [] })),
      nat: ['srcnat', 'dstnat'].map((name) => ({ name, rules: [] })),
      mangle: ['prerouting', 'input', 'forward', 'output', 'postrouting'].map((name) => ({ name, rules: [] })),
      'ipv6-address-lists': [],
      'ipv6-filter': ['input', 'forward', 'output'].map((name) => ({ name, rules: [] })),
      'ipv6-nat': ['srcnat', 'dstnat'].map((name) => ({ name, rules: [] })),
      'ipv6-mangle': ['prerouting', 'input', 'forward', 'output', 'postrouting'].map((name) => ({ name, rules: [] })),
      'mark-names': [],
      'queue-types': [],
      'simple-queues': [],
      'tree-queues': [],
      'interface-queues': [],
    });
  });

  it('settings become integers', () => {
    const { config } = compile(
      snapshotOf({
        '/ip/settings': [
          {
            'ip-forward': 'false',
            'rp-filter': 'loose',
            'arp-timeout': '1m',
            'icmp-rate-limit': '0',
            'icmp-rate-mask': '0xFFFFFFFF',
            'ipv4-fragment-time': '30',
            'tcp-timestamps': 'disabled',
            'send-redirects': 'false',
          },
        ],
        '/ip/firewall/connection/tracking': [
          { enabled: 'yes', 'udp-timeout': '500ms', 'liberal-tcp-tracking': 'true' },
        ],
      }),
    );
    expect(config.settings).toMatchObject({
      'ip-forward': false,
      'rp-filter': 'loose',
      'arp-timeout-ms': 60_000,
      'icmp-rate-limit-ms': 0,
      'icmp-rate-mask': 0xffff_ffff,
      'fragment-time-ms': 30_000,
      'tcp-timestamps': 'disabled',
      'send-redirects': false,
    });
    expect(config.tracking).toMatchObject({ enabled: 'yes', 'udp-timeout-ms': 500, 'liberal-tcp-tracking': true });
  });

  it('interfaces keep their port when they are renamed, and a disabled one stays known', () => {
    const { config } = compile(
      snapshotOf({
        '/interface/ethernet': [
          {
            'default-name': 'ether1',
            name: 'wan',
            mtu: '1400',
            'mac-address': 'AA:BB:CC:00:11:22',
            'arp-timeout': '45s',
          },
          { 'default-name': 'ether2', name: 'ether2', disabled: 'true', arp: 'proxy-arp' },
        ],
      }),
    );
    expect(config.interfaces).toEqual([
      {
        row: 1,
        name: 'wan',
        kind: { type: 'ethernet', port: 'ether1', io: 'auto' },
        disabled: false,
        mtu: 1400,
        'mac-address': 'aa:bb:cc:00:11:22',
        arp: 'enabled',
        'arp-timeout-ms': 45_000,
      },
      {
        row: 2,
        name: 'ether2',
        kind: { type: 'ethernet', port: 'ether2', io: 'auto' },
        disabled: true,
        mtu: 1500,
        'mac-address': null,
        arp: 'proxy-arp',
        'arp-timeout-ms': null,
      },
    ]);
  });

  it('addresses, routes and neighbours name interfaces by row; disabled rows are dropped', () => {
    const { config, invalid } = compile(
      snapshotOf({
        '/interface/ethernet': ports(2),
        '/ip/address': [
          { address: '192.168.88.1/24', interface: 'ether2' },
          { address: '10.0.0.1/32', network: '10.0.0.2', interface: 'ether1' },
          { address: '10.9.9.1/24', interface: 'ether1', disabled: 'true' },
        ],
        '/ip/route': [
          { gateway: '10.0.0.2' },
          { 'dst-address': '172.16.0.0/12', gateway: '10.0.0.2%ether1', distance: '5', 'pref-src': '192.168.88.1' },
          { 'dst-address': '198.18.0.0/15', gateway: 'ether2' },
          { 'dst-address': '10.66.0.0/16', blackhole: 'true' },
        ],
        '/ip/arp': [
          { address: '192.168.88.9', 'mac-address': 'AA:00:00:00:00:09', interface: 'ether2', published: 'true' },
        ],
      }),
    );
    expect([...invalid]).toEqual([]);
    expect(config.addresses).toEqual([
      { row: 3, interface: 2, address: '192.168.88.1', 'prefix-len': 24, network: '192.168.88.0' },
      { row: 4, interface: 1, address: '10.0.0.1', 'prefix-len': 32, network: '10.0.0.2' },
    ]);
    const route = { 'prefix-len': 0, distance: 1, 'pref-src': null };
    expect(config.routes).toEqual([
      { ...route, row: 6, destination: '0.0.0.0', target: { kind: 'gateway', address: '10.0.0.2', interface: null } },
      {
        row: 7,
        destination: '172.16.0.0',
        'prefix-len': 12,
        distance: 5,
        'pref-src': '192.168.88.1',
        target: { kind: 'gateway', address: '10.0.0.2', interface: 1 },
      },
      { ...route, row: 8, destination: '198.18.0.0', 'prefix-len': 15, target: { kind: 'interface', interface: 2 } },
      { ...route, row: 9, destination: '10.66.0.0', 'prefix-len': 16, target: { kind: 'blackhole' } },
    ]);
    expect(config.neighbors).toEqual([
      { row: 10, interface: 2, address: '192.168.88.9', 'mac-address': 'aa:00:00:00:00:09', published: true },
    ]);
  });

  it('addresses, routes, neighbours and settings of IPv6 become numbers too', () => {
    const { config, invalid } = compile(
      snapshotOf({
        '/interface/ethernet': ports(2),
        '/ipv6/address': [
          { address: '2001:db8:1::1/64', interface: 'ether1' },
          { address: '2001:db8:2::7/64', interface: 'ether2', 'eui-64': 'true', advertise: 'false', 'no-dad': 'true' },
          { address: '2001:db8:3::1/127', interface: 'ether2' },
        ],
        '/ipv6/route': [
          { gateway: 'fe80::1%ether1', 'pref-src': '2001:db8:2::99' },
          { 'dst-address': '2001:db8:9::/48', gateway: '2001:db8:1::1' },
          { 'dst-address': '2001:db8:a::/48', gateway: 'ether2', 'pref-src': '2001:db8:4::1' },
          { 'dst-address': '2001:db8:b::/48', blackhole: 'true', distance: '7' },
        ],
        '/ipv6/neighbor': [{ address: 'fe80::9', 'mac-address': 'AA:00:00:00:00:09', interface: 'ether2' }],
        '/ipv6/settings': [{ forward: 'false' }],
      }),
    );
    const none = { 'eui-64': false, 'no-dad': false, advertise: false };
    expect(config.addresses).toEqual([
      {
        row: 3,
        interface: 1,
        address: '2001:db8:1::1',
        'prefix-len': 64,
        network: '2001:db8:1::',
        ipv6: { ...none, advertise: true },
      },
      {
        row: 4,
        interface: 2,
        address: '2001:db8:2::',
        'prefix-len': 64,
        network: '2001:db8:2::',
        ipv6: { ...none, 'eui-64': true, 'no-dad': true },
      },
      { row: 5, interface: 2, address: '2001:db8:3::1', 'prefix-len': 127, network: '2001:db8:3::' },
    ]);
    expect(config.routes).toEqual([
      {
        row: 6,
        destination: '::',
        'prefix-len': 0,
        distance: 1,
        target: { kind: 'gateway', address: 'fe80::1', interface: 1 },
        'pref-src': '2001:db8:2::99',
      },
      {
        row: 9,
        destination: '2001:db8:b::',
        'prefix-len': 48,
        distance: 7,
        target: { kind: 'blackhole' },
        'pref-src': null,
      },
    ]);
    expect(config.neighbors).toEqual([
      { row: 10, interface: 2, address: 'fe80::9', 'mac-address': 'aa:00:00:00:00:09', published: false },
    ]);
    expect(config.settings.ipv6).toEqual({
      'accept-advertisements-on': [1, 2],
      'accept-redirects': true,
      'disable-ipv6': false,
      forward: false,
      'max-neighbor-entries': 8192,
    });
    expect(Object.fromEntries(invalid)).toEqual({
      7: 'gateway: 2001:db8:1::1 is an address of this router itself',
      8: 'pref-src: 2001:db8:4::1 is no enabled address of this router; give one of those, or unset it',
    });
  });

  it('tables get numbers, and rules, routes and marks name them by these', () => {
    const { config, invalid } = compile(
      snapshotOf({
        '/interface/ethernet': ports(2),
        '/ip/address': [{ address: '10.0.0.1/24', interface: 'ether2' }],
        '/routing/table': [
          { name: 'off', fib: 'true', disabled: 'true' },
          { name: 'one', fib: 'true' },
          { name: 'two' },
        ],
        '/routing/rule': [
          { 'src-address': '10.0.0.0/24', table: 'one', 'min-prefix': '0' },
          { 'routing-mark': 'one', interface: 'ether1', action: 'lookup-only-in-table', table: 'main' },
          { 'dst-address': '2001:db8::/32', action: 'unreachable' },
          { 'routing-mark': 'main', table: 'off' },
        ],
        '/ip/route': [
          { gateway: '10.0.0.2', 'routing-table': 'two' },
          { gateway: '10.0.0.2@one' },
          { gateway: '10.0.0.3', 'routing-table': 'off' },
        ],
        '/ip/firewall/mangle': [
          { chain: 'prerouting', action: 'mark-routing', 'new-routing-mark': 'one' },
          { chain: 'prerouting', action: 'mark-routing', 'new-routing-mark': 'main' },
        ],
      }),
    );
    expect(config['routing-tables']).toEqual([
      { row: 5, name: 'one', mark: markOf('one'), fib: true },
      { row: 6, name: 'two', mark: markOf('two'), fib: false },
    ]);
    const any = { source: null, destination: null, 'routing-mark': null, interface: null };
    expect(config['routing-rules']).toEqual([
      {
        ...any,
        row: 7,
        source: { address: '10.0.0.0', 'prefix-len': 24 },
        action: { kind: 'lookup', table: 1, only: false, 'min-prefix': 0 },
      },
      {
        ...any,
        row: 8,
        'routing-mark': markOf('one'),
        interface: 1,
        action: { kind: 'lookup', table: 0, only: true, 'min-prefix': null },
      },
      { ...any, row: 9, destination: { address: '2001:db8::', 'prefix-len': 32 }, action: { kind: 'unreachable' } },
    ]);
    const options = { scope: 30, 'target-scope': 10, 'check-gateway': null };
    expect(config.routes.map(({ row, target, options }) => ({ row, target, options }))).toEqual([
      {
        row: 11,
        target: { kind: 'gateway', address: '10.0.0.2', interface: null },
        options: { ...options, table: 2 },
      },
      {
        row: 12,
        target: { kind: 'gateways', gateways: [{ address: '10.0.0.2', interface: null, table: 1 }] },
        options: undefined,
      },
    ]);
    expect(config.mangle?.[0]?.rules.map(({ action }) => action)).toEqual([
      { kind: 'mark-routing', mark: markOf('one'), passthrough: true },
      { kind: 'mark-routing', mark: 0, passthrough: true },
    ]);
    expect(Object.fromEntries(invalid)).toEqual({
      10: 'table: there is no enabled routing table off',
      13: 'routing-table: there is no enabled routing table off',
    });
  });

  it('rows that cannot work are left out with their reason', () => {
    const { config, invalid } = compile(
      snapshotOf({
        '/interface/ethernet': ports(1),
        '/ip/address': [
          { address: '10.0.0.1/24', interface: 'ether7' },
          { address: '10.0.1.1/24', interface: 'ether1' },
        ],
        '/ip/route': [
          { gateway: 'ether7' },
          { gateway: '10.0.1.1' },
          { gateway: '10.0.1.2', 'pref-src': '10.0.0.1' },
          { gateway: '10.0.1.2%ether7' },
        ],
        '/ip/arp': [{ address: '10.0.0.9', 'mac-address': 'AA:00:00:00:00:09', interface: 'ether7' }],
      }),
    );
    expect(Object.fromEntries(invalid)).toEqual({
      2: 'interface: there is no interface ether7',
      4: 'gateway: there is no interface ether7',
      5: 'gateway: 10.0.1.1 is an address of this router itself',
      6: 'pref-src: 10.0.0.1 is no enabled address of this router; give one of those, or unset it',
      7: 'gateway: there is no interface ether7',
      8: 'interface: there is no interface ether7',
    });
    expect(config.addresses.map(({ row }) => row)).toEqual([3]);
    expect(config.routes).toEqual([]);
    expect(config.neighbors).toEqual([]);
  });
});

describe('schema and compiler agree', () => {
  const KINDS = menuByPath('/queue/type')?.props.kind?.kind.values ?? [];
  /** Rows that together touch every property of the data plane. */
  const everything: Readonly<Record<string, readonly Record<string, string>[]>> = {
    '/interface/ethernet': ports(1).map((row) => ({ ...(row as Record<string, string>) })),
    '/interface/vlan': [{ name: 'v', 'vlan-id': '10', interface: 'ether1' }],
    '/interface/loopback': [{ name: 'lo1' }],
    '/interface/list': [{ name: 'LAN' }],
    '/interface/list/member': [{ list: 'LAN', interface: 'ether1' }],
    '/routing/table': [{ name: 'isp', fib: 'true' }],
    '/routing/rule': [{ table: 'isp' }, { action: 'drop' }],
    '/ip/vrf': [{ name: 'blue', interfaces: 'v' }],
    '/ip/address': [{ address: '10.0.0.1/24', interface: 'ether1' }],
    '/ip/route': [{ gateway: '10.0.0.2' }],
    '/ip/arp': [{ address: '10.0.0.9', 'mac-address': 'AA:00:00:00:00:09', interface: 'ether1' }],
    '/ip/settings': [{}],
    '/ipv6/address': [{ address: '2001:db8::1/64', interface: 'ether1' }],
    '/ipv6/route': [{ gateway: '2001:db8::2' }],
    '/ipv6/neighbor': [{ address: '2001:db8::9', 'mac-address': 'AA:00:00:00:00:09', interface: 'ether1' }],
    '/ipv6/settings': [{}],
    '/ipv6/firewall/address-list': [{ list: 'bad', address: '2001:db8::/32' }],
    '/ipv6/firewall/filter': [
      { chain: 'forward', 'in-interface-list': 'LAN', log: 'true' },
      { chain: 'forward', action: 'jump', 'jump-target': 'own' },
      { chain: 'own', action: 'reject' },
      { chain: 'own', action: 'add-src-to-address-list', 'address-list': 'seen' },
    ],
    '/ipv6/firewall/nat': [
      { chain: 'srcnat', action: 'src-nat', 'to-ports': '5', log: 'true' },
      { chain: 'srcnat', action: 'jump', 'jump-target': 'own' },
      { chain: 'own', action: 'add-dst-to-address-list', 'address-list': 'seen' },
    ],
    '/ipv6/firewall/mangle': [
      { chain: 'prerouting', action: 'mark-packet', 'new-packet-mark': 'a', log: 'true' },
      { chain: 'prerouting', action: 'mark-connection', 'new-connection-mark': 'a' },
      { chain: 'prerouting', action: 'mark-routing', 'new-routing-mark': 'main' },
      { chain: 'forward', action: 'change-dscp', 'new-dscp': '46' },
      { chain: 'forward', action: 'change-mss', 'new-mss': '1400', protocol: 'tcp' },
      { chain: 'forward', action: 'jump', 'jump-target': 'own' },
      { chain: 'own', action: 'add-dst-to-address-list', 'address-list': 'seen' },
    ],
    '/ip/firewall/connection/tracking': [{}],
    '/ip/firewall/address-list': [{ list: 'bad', address: '10.0.0.1' }],
    '/ip/firewall/filter': [
      { chain: 'forward', 'in-interface-list': 'LAN', log: 'true' },
      { chain: 'forward', action: 'jump', 'jump-target': 'own' },
      { chain: 'own', action: 'reject' },
      { chain: 'own', action: 'add-src-to-address-list', 'address-list': 'seen' },
    ],
    '/ip/firewall/nat': [
      { chain: 'srcnat', action: 'src-nat', 'to-ports': '5', log: 'true' },
      { chain: 'srcnat', action: 'jump', 'jump-target': 'own' },
      { chain: 'own', action: 'add-dst-to-address-list', 'address-list': 'seen' },
    ],
    '/ip/firewall/mangle': [
      { chain: 'prerouting', action: 'mark-packet', 'new-packet-mark': 'a', log: 'true' },
      { chain: 'prerouting', action: 'mark-connection', 'new-connection-mark': 'a' },
      { chain: 'prerouting', action: 'mark-routing', 'new-routing-mark': 'main' },
      { chain: 'forward', action: 'change-dscp', 'new-dscp': '46' },
      { chain: 'forward', action: 'change-mss', 'new-mss': '1400', protocol: 'tcp' },
      { chain: 'forward', action: 'jump', 'jump-target': 'own' },
      { chain: 'own', action: 'add-dst-to-address-list', 'address-list': 'seen' },
    ],
    '/queue/type': KINDS.map((kind) => ({ name: `my-${kind}`, kind })),
    '/queue/simple': [{ name: 'a', target: '10.0.0.0/8', queue: 'default/my-none', 'total-max-limit': '1' }],
    '/queue/tree': KINDS.map((kind) => ({ name: kind, parent: 'global', queue: `my-${kind}` })),
  };

  it('every property that reaches the data plane is read, and no other', () => {
    const read = new Map<string, Set<string>>();
    const snapshot: ConfigSnapshot = new Map(
      Object.entries(everything).map(([path, rows], menuIndex) => {
        const names = new Set<string>();
        read.set(path, names);
        return [
          path,
          rows.map((values, index): Row => {
            const watched = new Proxy(values, {
              get(target, name) {
                names.add(String(name));
                return Reflect.get(target, name);
              },
            });
            return {
              id: menuIndex * 100 + index + 1,
              values: watched,
              comment: '',
              get disabled() {
                names.add('disabled');
                return false;
              },
            };
          }),
        ];
      }),
    );
    const { invalid } = compile(snapshot);
    expect(Object.fromEntries(invalid)).toEqual({});
    for (const menu of registry.filter(({ source }) => source !== 'live')) {
      const declared = registry
        .filter(({ path }) => storagesOf(path).includes(menu.path))
        .flatMap(({ props }) => Object.entries(props).flatMap(([name, prop]) => (prop.dataplane ? [name] : [])));
      expect([...(read.get(menu.path) ?? [])].sort(), menu.path).toEqual([...new Set(declared)].sort());
    }
  });
});
