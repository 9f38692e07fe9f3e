import { menuByPath } from '@tollway/schema';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/compiler/digest.js';
import { defaultConfiguration } from '../../src/config/defaults.js';
import { compile } from '../../src/menus/index.js';
import { added, ports, snapshotOf } from '../config/rows.js';

/**
 * Compiled configurations as files that the Rust types read too (`crates/config/tests/golden.rs`). After a
 * deliberate change of the format: `npx vitest run --project api -u` and look at the difference.
 */
const golden = (name: string, value: unknown) =>
  expect(`${JSON.stringify(value, undefined, 2)}\n`).toMatchFileSnapshot(`../golden/${name}.json`);

const QUEUE_KINDS = menuByPath('/queue/type')?.props.kind?.kind.values ?? [];

const router = (count: number) => snapshotOf({ '/interface/ethernet': ports(count) });

describe('golden files', () => {
  const digests: Record<string, string> = {};

  it('nothing configured', async () => {
    const { config } = compile(new Map());
    await golden('empty', config);
    digests.empty = digestOf(config);
  });

  it('the default configuration of the lab', async () => {
    const rows = defaultConfiguration('lab', ['ether1', 'ether2', 'ether3']);
    const snapshot = added(
      router(3),
      rows.map(({ menu, values }) => ({ menu, body: values })),
    );
    const { config } = compile(snapshot);
    await golden('lab', config);
    digests.lab = digestOf(config);
  });

  it('every matcher and every action', async () => {
    const filter = (body: Record<string, string>) => ({
      menu: '/ip/firewall/filter',
      body: { chain: 'forward', ...body },
    });
    const nat = (body: Record<string, string>) => ({ menu: '/ip/firewall/nat', body });
    const mangle = (body: Record<string, string>) => ({
      menu: '/ip/firewall/mangle',
      body: { chain: 'prerouting', ...body },
    });
    const snapshot = added(router(2), [
      { menu: '/interface/list', body: { name: 'LAN' } },
      { menu: '/interface/list/member', body: { list: 'LAN', interface: 'ether2' } },
      { menu: '/interface/vlan', body: { name: 'vlan1', 'vlan-id': '10', interface: 'ether2', arp: 'proxy-arp' } },
      {
        menu: '/interface/vlan',
        body: { name: 'inner', 'vlan-id': '20', interface: 'vlan1', 'use-service-tag': 'yes', mtu: '1400' },
      },
      { menu: '/ip/vrf', body: { name: 'blue', interfaces: 'inner' } },
      { menu: '/ip/address', body: { address: '10.20.0.1/24', interface: 'inner' } },
      { menu: '/ip/address', body: { address: '10.20.0.1/24', interface: 'ether2' } },
      { menu: '/ip/route', body: { gateway: '10.20.0.2,192.168.88.2@main', 'routing-table': 'blue' } },
      { menu: '/ip/address', body: { address: '192.168.88.1/24', interface: 'ether2' } },
      { menu: '/ip/address', body: { address: '10.0.0.1/32', network: '10.0.0.2', interface: 'ether1' } },
      { menu: '/routing/table', body: { name: 'second', fib: '' } },
      { menu: '/routing/rule', body: { 'src-address': '192.168.88.0/24', table: 'second', 'min-prefix': '0' } },
      { menu: '/routing/rule', body: { 'dst-address': '2001:db8::/32', interface: 'ether2', action: 'drop' } },
      {
        menu: '/routing/rule',
        body: { 'routing-mark': 'second', action: 'lookup-only-in-table', table: 'second' },
      },
      { menu: '/ip/route', body: { gateway: '10.0.0.2', 'routing-table': 'second' } },
      { menu: '/ip/route', body: { 'dst-address': '198.19.0.0/16', gateway: '10.0.0.2@second' } },
      { menu: '/ip/route', body: { gateway: '10.0.0.2', 'pref-src': '192.168.88.1', distance: '7' } },
      { menu: '/ip/route', body: { 'dst-address': '198.18.0.0/15', gateway: '10.0.0.2%ether1' } },
      { menu: '/ip/route', body: { 'dst-address': '198.51.100.0/24', gateway: 'ether1' } },
      { menu: '/ip/route', body: { 'dst-address': '203.0.113.0/24', blackhole: 'yes' } },
      { menu: '/ip/route', body: { 'dst-address': '203.0.114.0/24', prohibit: 'yes' } },
      {
        menu: '/ip/route',
        body: { 'dst-address': '203.0.115.0/24', gateway: '10.0.0.2,ether1', 'check-gateway': 'ping', scope: '20' },
      },
      { menu: '/ip/arp', body: { address: '192.168.88.9', 'mac-address': 'AA:00:00:00:00:09', interface: 'ether2' } },
      { menu: '/ip/firewall/address-list', body: { list: 'bad', address: '10.9.0.0/16' } },
      { menu: '/queue/type', body: { name: 'long', kind: 'pfifo', 'pfifo-limit': '200' } },
      {
        menu: '/queue/simple',
        body: { target: '192.168.88.9,10.1.0.0/16', 'max-limit': '10M/20M', queue: 'default/long' },
      },
      { menu: '/queue/simple', body: { name: 'queue2', target: '10.0.0.0/8' } },
      {
        menu: '/queue/simple',
        body: {
          target: 'ether2,2001:db8::/32',
          dst: '192.0.2.0/24',
          parent: 'queue2',
          time: '!8h-17h,mon',
          'packet-marks': 'voip,no-mark',
          'limit-at': '1M/2M',
          'max-limit': '10M/20M',
          'burst-limit': '15M/25M',
          'burst-threshold': '8M/16M',
          'burst-time': '16s/8s',
          'bucket-size': '0.25/10',
          priority: '3/5',
          'total-max-limit': '25M',
        },
      },
      ...QUEUE_KINDS.flatMap((kind) => [
        { menu: '/queue/type', body: { name: `my-${kind}`, kind } },
        { menu: '/queue/tree', body: { name: kind, parent: 'global', queue: `my-${kind}` } },
      ]),
      { menu: '/queue/tree', body: { name: 'up', parent: 'ether1', 'max-limit': '50M' } },
      { menu: '/queue/tree', body: { name: 'low', parent: 'up', 'packet-mark': 'voip,no-mark', priority: '1' } },
      filter({ 'in-interface': '!ether1', 'out-interface-list': 'LAN', action: 'accept' }),
      filter({
        protocol: 'tcp',
        'src-port': '1024-65535',
        'dst-port': '!80,443',
        'tcp-flags': 'syn,!ack',
        action: 'drop',
      }),
      filter({ protocol: 'udp', port: '53', action: 'reject', 'reject-with': 'icmp-port-unreachable' }),
      filter({ protocol: 'icmp', 'icmp-options': '8', action: 'return' }),
      filter({
        'src-address': '10.0.0.0/8',
        'dst-address': '!192.0.2.1-192.0.2.9',
        action: 'log',
        'log-prefix': 'seen',
      }),
      filter({ 'src-address-list': 'bad', 'dst-address-list': '!none-yet', action: 'passthrough', log: 'yes' }),
      filter({ 'connection-state': 'established,related', action: 'fasttrack-connection' }),
      filter({
        'connection-state': '!invalid',
        'connection-nat-state': 'srcnat,dstnat',
        action: 'jump',
        'jump-target': 'own',
      }),
      filter({ chain: 'own', action: 'reject', 'reject-with': 'tcp-reset' }),
      filter({ 'packet-size': '!0-64', 'connection-bytes': '500000-0', time: '8h-17h,mon,tue', action: 'drop' }),
      filter({ nth: '3,1', action: 'add-src-to-address-list', 'address-list': 'bad', 'address-list-timeout': '5m' }),
      filter({ random: '25', action: 'add-dst-to-address-list', 'address-list': 'seen' }),
      filter({ limit: '10/1m,5', action: 'accept' }),
      filter({ limit: '!8M,1M:bit', action: 'drop' }),
      filter({ 'packet-mark': 'voip', 'connection-mark': '!no-mark', dscp: '46', action: 'accept' }),
      filter({ 'routing-mark': '!second', action: 'accept' }),
      mangle({ action: 'mark-packet', 'new-packet-mark': 'voip', passthrough: 'no' }),
      mangle({ action: 'mark-connection', 'new-connection-mark': 'calls' }),
      mangle({ action: 'mark-routing', 'new-routing-mark': 'second' }),
      mangle({ action: 'change-dscp', 'new-dscp': '46' }),
      mangle({ action: 'change-mss', protocol: 'tcp', 'new-mss': '1400' }),
      mangle({ action: 'change-mss', protocol: 'tcp', 'new-mss': 'clamp-to-pmtu' }),
      nat({
        chain: 'srcnat',
        action: 'masquerade',
        protocol: 'tcp',
        'to-ports': '1024-2047',
        'randomise-ports': 'yes',
      }),
      nat({ chain: 'srcnat', action: 'src-nat', 'to-addresses': '203.0.113.10-203.0.113.19' }),
      nat({ chain: 'dstnat', action: 'dst-nat', protocol: 'tcp', 'to-addresses': '192.168.88.10', 'to-ports': '80' }),
      nat({ chain: 'dstnat', action: 'redirect', protocol: 'udp', 'dst-port': '53', 'to-ports': '5353' }),
    ]);
    const { config, invalid } = compile(snapshot);
    expect(Object.fromEntries(invalid)).toEqual({});
    await golden('everything', config);
    digests.everything = digestOf(config);
  });

  it('names of any characters', async () => {
    const names = ['"\\ \u0000\u001f\u007f\b\n', 'é\u2028\u{1f600}'].map((name, index) => ({ mark: index + 1, name }));
    const config = { ...compile(new Map()).config, 'mark-names': names };
    await golden('names', config);
    digests.names = digestOf(config);
  });

  it('their digests', async () => {
    await golden('digests', digests);
  });
});
