import { type Menu, menuByPath } from '@tollway/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Verified, verifyAdd, verifySet } from '../../src/config/verify.js';
import { menuChecks } from '../../src/menus/index.js';
import type { ConfigSnapshot, Row } from '../../src/snapshot/snapshot.js';
import { added, ports, snapshotOf } from './rows.js';

function menu(path: string): Menu {
  const found = menuByPath(path);
  if (!found) throw new Error(`no menu ${path}`);
  return found;
}

const FILTER = '/ip/firewall/filter';
const NAT = '/ip/firewall/nat';
const router = added(snapshotOf({ '/interface/ethernet': ports(3) }), [
  { menu: '/interface/list', body: { name: 'LAN' } },
  { menu: '/interface/list', body: { name: 'WAN', include: 'LAN' } },
  { menu: '/interface/list/member', body: { list: 'LAN', interface: 'ether2' } },
  { menu: '/ip/address', body: { address: '192.168.88.1/24', interface: 'ether2' } },
  { menu: '/ip/arp', body: { address: '192.168.88.9', 'mac-address': 'AA:00:00:00:00:09', interface: 'ether2' } },
  { menu: '/ip/firewall/address-list', body: { list: 'bad', address: '10.0.0.0-10.0.0.255' } },
]);

/** Field and words of the first error of an add; fails when there is none. */
function refused(path: string, body: Record<string, unknown>, snapshot: ConfigSnapshot = router) {
  const verified = verifyAdd(menuChecks, menu(path), body, snapshot);
  if (verified.ok) throw new Error(`${path} ${JSON.stringify(body)} was accepted`);
  return verified.errors[0];
}

const content = (verified: Verified) => {
  if (!verified.ok) throw new Error(verified.errors[0].detail);
  return verified.content;
};
const add = (path: string, body: Record<string, unknown>) => content(verifyAdd(menuChecks, menu(path), body, router));
const row = (more: Partial<Row> & Pick<Row, 'values'>): Row => ({ id: 900, disabled: false, comment: '', ...more });
const set = (path: string, before: Row | undefined, body: Record<string, unknown>) =>
  content(verifySet(menuChecks, menu(path), before, body, router));

describe('add', () => {
  it('brings values into canonical form and keeps disabled and comment apart', () => {
    const body = {
      chain: 'forward',
      protocol: 6,
      'dst-port': [443, '080'],
      disabled: 'yes',
      comment: 'web',
      log: true,
    };
    expect(add(FILTER, body)).toEqual({
      values: { chain: 'forward', protocol: 'tcp', 'dst-port': '443,80', log: 'true' },
      disabled: true,
      comment: 'web',
    });
  });

  it('takes empty texts of properties that may be absent as absent', () => {
    const body = { chain: 'input', 'dst-port': '', comment: '', '!protocol': '', 'in-interface': '' };
    expect(add(FILTER, body)).toEqual({ values: { chain: 'input' }, disabled: false, comment: '' });
  });

  it('an argument that is mere presence is on when empty and off when denied', () => {
    expect(add('/ip/route', { 'dst-address': '10.0.0.0/8', blackhole: '' }).values.blackhole).toBe('true');
    expect(add('/ip/route', { gateway: '10.0.0.1', blackhole: 'no' }).values).toEqual({ gateway: '10.0.0.1' });
  });

  it('a network that follows from the address is not stored', () => {
    const body = { address: '10.1.2.3/24', network: '10.1.2.0', interface: 'ether1' };
    expect(add('/ip/address', body).values).toEqual({ address: '10.1.2.3/24', interface: 'ether1' });
    const pair = { address: '10.1.2.3/32', network: '10.1.2.9', interface: 'ether1' };
    expect(add('/ip/address', pair).values).toEqual(pair);
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    [FILTER, { chain: 'forward', nonsense: '1' }, 'nonsense', 'unknown parameter nonsense'],
    [FILTER, { chain: 'forward', toString: '1' }, 'toString', 'unknown parameter toString'],
    [FILTER, { chain: 'forward', packets: '1' }, 'packets', 'unknown parameter packets: it is read-only'],
    [FILTER, { action: 'accept' }, 'chain', 'chain is required: a name'],
    [FILTER, { chain: '' }, 'chain', 'value of chain: an empty value is not a name'],
    [FILTER, { chain: null }, 'chain', 'value of chain: give a text'],
    [FILTER, { chain: { a: 1 } }, 'chain', 'value of chain: give a text'],
    [FILTER, { chain: [['a']] }, 'chain', 'value of chain: give a text'],
    [FILTER, { chain: 'forward', action: 'tarpit' }, 'action', 'value of action: tarpit is not one of accept, drop'],
    [
      FILTER,
      { chain: 'forward', protocol: 'tcp', 'dst-port': '70000' },
      'dst-port',
      'value of dst-port: 70000 is out of range (0..65535)',
    ],
    [
      FILTER,
      { chain: 'forward', protocol: 'tcp', 'dst-port': '80,' },
      'dst-port',
      'value of dst-port: a port or range is missing after the comma; give a comma list of ports and ranges 0..65535',
    ],
    [
      FILTER,
      { chain: 'forward', protocol: 'tcp', 'dst-port': '!80,,443' },
      'dst-port',
      'value of dst-port: a port or range is missing between two commas',
    ],
    [FILTER, { chain: 'forward', 'dst-port': '80' }, 'dst-port', 'only if protocol is tcp or udp'],
    [FILTER, { chain: 'forward', protocol: '!tcp', port: '80' }, 'port', 'only if protocol is tcp or udp'],
    [FILTER, { chain: 'forward', protocol: 'udp', 'tcp-flags': 'syn' }, 'tcp-flags', 'only if protocol is tcp'],
    [FILTER, { chain: 'forward', 'icmp-options': '8' }, 'icmp-options', 'only if protocol is icmp'],
    [FILTER, { chain: 'forward', 'src-address': '10.0.0.1/33' }, 'src-address', 'an IPv4 address, a prefix'],
    [
      FILTER,
      { chain: 'forward', 'in-interface': 'ether9' },
      'in-interface',
      'input does not match any value of in-interface: ether9 is none of all-ethernet, all-vlan, ether1, ether2, ether3',
    ],
    [
      FILTER,
      { chain: 'forward', 'in-interface-list': '!NONE' },
      'in-interface-list',
      'NONE is none of all, none, dynamic, static, LAN, WAN',
    ],
    [FILTER, { chain: 'input', 'out-interface': 'ether1' }, 'out-interface', 'not possible in chain input'],
    [FILTER, { chain: 'output', 'in-interface-list': 'LAN' }, 'in-interface-list', 'not possible in chain output'],
    [FILTER, { chain: 'srcnat' }, 'chain', 'give input, forward, output or a name of your own'],
    [FILTER, { chain: 'forward', action: 'jump' }, 'jump-target', 'jump-target is required when action is jump'],
    [
      FILTER,
      { chain: 'forward', action: 'add-src-to-address-list' },
      'address-list',
      'address-list is required when action is add-src-to-address-list',
    ],
    [
      NAT,
      {
        chain: 'dstnat',
        action: 'add-dst-to-address-list',
        'address-list': 'x',
        'address-list-timeout': 'none-static',
      },
      'address-list-timeout',
      'none-static is not a duration such as 30s, 1h30m, 1d or 00:05:00, or none-dynamic',
    ],
    [FILTER, { chain: 'forward', 'address-list': 'x' }, 'address-list', 'applies only when action is add-src'],
    [FILTER, { chain: 'forward', 'connection-bytes': '!1-2' }, 'connection-bytes', 'from-to in bytes'],
    [FILTER, { chain: 'forward', random: '100' }, 'random', 'out of range (1..99)'],
    [FILTER, { chain: 'forward', 'jump-target': 'x' }, 'jump-target', 'applies only when action is jump'],
    [FILTER, { chain: 'forward', 'reject-with': 'tcp-reset' }, 'reject-with', 'applies only when action is reject'],
    [FILTER, { chain: 'forward', 'log-prefix': 'x'.repeat(32) }, 'log-prefix', 'at most 31 characters'],
    [FILTER, { chain: 'forward', '!chain': '' }, 'chain', 'chain cannot be unset'],
    [NAT, { chain: 'input' }, 'chain', 'give srcnat, dstnat or a name of your own'],
    [NAT, { chain: 'dstnat', action: 'masquerade' }, 'action', 'masquerade works in chain srcnat only'],
    [NAT, { chain: 'srcnat', action: 'redirect' }, 'action', 'redirect works in chain dstnat only'],
    [NAT, { chain: 'dstnat', 'out-interface-list': 'WAN' }, 'out-interface-list', 'not possible in chain dstnat'],
    [NAT, { chain: 'dstnat', action: 'dst-nat' }, 'to-addresses', 'to-addresses is required when action is dst-nat'],
    ...['0.0.0.0', '127.0.0.1', '224.0.0.1', '255.255.255.255', '126.0.0.1-128.0.0.1', '0.0.0.0/0'].map(
      (to): [string, Record<string, unknown>, string, string] => [
        NAT,
        { chain: 'dstnat', action: 'dst-nat', 'to-addresses': to },
        'to-addresses',
        'no packet is sent to or from',
      ],
    ),
    [
      NAT,
      { chain: 'dstnat', action: 'redirect', protocol: 'udp', 'to-ports': '0-9' },
      'to-ports',
      'value of to-ports: nothing is sent to or from port 0',
    ],
    [NAT, { chain: 'dstnat', action: 'redirect', 'to-ports': '53' }, 'to-ports', 'only if protocol is tcp or udp'],
    [
      NAT,
      { chain: 'srcnat', action: 'masquerade', 'to-addresses': '10.0.0.1' },
      'to-addresses',
      'applies only when action is src-nat or dst-nat',
    ],
    ['/ip/address', { address: '10.0.0.1/33', interface: 'ether1' }, 'address', 'with n 0..32'],
    ['/ip/address', { address: '10.0.0.1/24' }, 'interface', 'interface is required'],
    ['/ip/address', { address: '10.0.0.1/24', interface: 'wan' }, 'interface', 'does not match any value of interface'],
    [
      '/ip/address',
      { address: '10.0.0.1/24', interface: 'all-ethernet' },
      'interface',
      'all-ethernet is none of ether1',
    ],
    ['/ip/address', { address: '192.168.88.1/24', interface: 'ether2' }, 'address', 'already have such address'],
    ['/ip/address', { address: '192.168.88.1/32', interface: 'ether3' }, 'address', 'already have such address'],
    ['/ip/address', { address: '10.0.0.0/24', interface: 'ether1' }, 'address', 'the network itself'],
    ['/ip/address', { address: '10.0.0.255/24', interface: 'ether1' }, 'address', 'the broadcast address'],
    ['/ip/address', { address: '224.0.0.1/24', interface: 'ether1' }, 'address', 'a multicast address'],
    ['/ip/address', { address: '127.0.0.1/8', interface: 'ether1' }, 'address', 'a loopback address'],
    [
      '/ip/address',
      { address: '10.0.0.1/24', network: '10.0.1.0', interface: 'ether1' },
      'network',
      'give 10.0.0.0 or leave it out',
    ],
    ['/ip/route', { 'dst-address': '10.0.0.0/8' }, 'gateway', 'gateway is required'],
    ['/ip/route', { gateway: '10.0.0.1', blackhole: 'yes' }, 'blackhole', 'either a gateway or blackhole'],
    ['/ip/route', { gateway: 'ether9' }, 'gateway', 'ether9 is neither an address nor one of ether1'],
    ['/ip/route', { gateway: '10.0.0.1%ether9' }, 'gateway', 'ether9 is neither an address nor one of ether1'],
    ['/ip/route', { gateway: '10.0.0.999' }, 'gateway', 'an IPv4 address, an interface name'],
    ['/ip/route', { gateway: '0.0.0.0' }, 'gateway', 'reserved'],
    ['/ip/route', { gateway: '10.0.0.1', distance: '0' }, 'distance', 'out of range (1..255)'],
    [
      '/ip/arp',
      { address: '192.168.88.9', 'mac-address': 'AA:00:00:00:00:01', interface: 'ether2' },
      'address',
      'already have such entry',
    ],
    [
      '/ip/arp',
      { address: '192.168.88.8', 'mac-address': '01:00:5E:00:00:01', interface: 'ether2' },
      'mac-address',
      'no unicast address',
    ],
    ['/ip/firewall/address-list', { list: 'bad', address: '10.0.0.0/24' }, 'address', 'already have such entry'],
    ['/ip/firewall/address-list', { list: 'a,b', address: '10.0.0.1' }, 'list', 'without commas'],
    ['/interface/list', { name: 'LAN' }, 'name', 'already have interface list with such name'],
    ['/interface/list', { name: 'all' }, 'name', 'already have interface list with such name'],
    ['/interface/list', { name: 'X', include: 'LAN,X' }, 'include', 'X is none of'],
    ['/interface/list/member', { list: 'all', interface: 'ether1' }, 'list', 'all is built in'],
    [
      '/interface/list/member',
      { list: 'LAN', interface: 'ether2' },
      'interface',
      'already have such interface list member',
    ],
    ['/user', { name: 'bob', group: 'full', password: 'short' }, 'password', 'a password of 8 to 256 characters'],
    ['/user', { name: 'bob', password: 'long enough' }, 'group', 'group is required: one of full, write, read'],
  ])('%s %j is refused at %s', (path, body, property, words) => {
    const error = refused(path, body);
    expect(error.property).toBe(property);
    expect(error.detail).toContain(words);
    expect(error.detail).toContain(property);
  });

  it('an address list that does not exist yet may be named', () => {
    expect(add(FILTER, { chain: 'forward', 'src-address-list': 'later' }).values['src-address-list']).toBe('later');
  });

  it('an interface list may have what built-in ones have', () => {
    const { values } = add('/interface/list', { name: 'Others', include: 'all', exclude: 'none,WAN' });
    expect(values).toMatchObject({ include: 'all', exclude: 'none,WAN' });
  });

  it('a jump to a chain that does not exist yet is accepted', () => {
    expect(add(FILTER, { chain: 'forward', action: 'jump', 'jump-target': 'later' }).values['jump-target']).toBe(
      'later',
    );
  });

  it('any object as body gives an answer', () => {
    const paths = [FILTER, NAT, '/ip/address', '/ip/route', '/interface/list', '/user'];
    const key = fc.oneof(
      fc.constantFrom(...paths.flatMap((path) => Object.keys(menu(path).props)), '!chain', '.id'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.dictionary(key, fc.jsonValue(), { maxKeys: 5 }), (path, body) => {
        const verified = verifyAdd(menuChecks, menu(path), body, router);
        if (!verified.ok) for (const error of verified.errors) expect(error.detail).toContain(error.property);
      }),
      { numRuns: 5 * (fc.readConfigureGlobal()?.numRuns ?? 100) },
    );
  });
});

describe('set', () => {
  const rule = row({ values: { chain: 'forward', protocol: 'tcp', 'dst-port': '80' }, comment: 'web' });

  it('touches only what is named', () => {
    expect(set(FILTER, rule, { 'dst-port': '8080' })).toEqual({
      values: { chain: 'forward', protocol: 'tcp', 'dst-port': '8080' },
      disabled: false,
      comment: 'web',
    });
  });

  it('unsets by !name and by the empty text', () => {
    const body = {
      '!in-interface': '',
      '!protocol': '',
      action: 'drop',
      chain: 'forward',
      comment: '',
      disabled: 'no',
      'dst-port': '',
    };
    expect(set(FILTER, rule, body)).toEqual({
      values: { chain: 'forward', action: 'drop' },
      disabled: false,
      comment: '',
    });
  });

  it('checks what the change leaves behind', () => {
    const verified = verifySet(menuChecks, menu(FILTER), rule, { '!protocol': '' }, router);
    expect(verified).toMatchObject({ ok: false, errors: [{ property: 'dst-port' }] });
  });

  it('a property with a default goes back to it', () => {
    const before = row({ values: { name: 'ether7', 'default-name': 'ether7', mtu: '1400' } });
    expect(set('/interface/ethernet', before, { '!mtu': '' }).values).toEqual({
      name: 'ether7',
      'default-name': 'ether7',
    });
  });

  it('leaves references that have broken alone until they are touched', () => {
    const broken = row({ values: { chain: 'forward', 'in-interface': 'gone' } });
    expect(set(FILTER, broken, { comment: 'still here' }).values['in-interface']).toBe('gone');
    expect(verifySet(menuChecks, menu(FILTER), broken, { 'in-interface': 'gone' }, router).ok).toBe(false);
  });

  it('keeps what belongs to another action, but takes no new value for it', () => {
    const before = row({ values: { chain: 'dstnat', action: 'dst-nat', 'to-addresses': '10.0.0.1' } });
    expect(set(NAT, before, { action: 'accept' }).values['to-addresses']).toBe('10.0.0.1');
    const both = verifySet(menuChecks, menu(NAT), before, { action: 'accept', 'to-addresses': '10.0.0.2' }, router);
    expect(both).toMatchObject({ ok: false, errors: [{ property: 'to-addresses' }] });
  });

  it('a row is no duplicate of itself', () => {
    const [address] = router.get('/ip/address') ?? [];
    expect(set('/ip/address', address, { address: '192.168.88.1/25' }).values.address).toBe('192.168.88.1/25');
  });

  it('a new address takes its own network', () => {
    const before = row({ values: { address: '10.0.0.1/32', network: '10.0.0.2', interface: 'ether1' } });
    expect(set('/ip/address', before, { address: '10.7.0.1/24' }).values).toEqual({
      address: '10.7.0.1/24',
      interface: 'ether1',
    });
  });

  it('an interface list may not come to include itself', () => {
    const [lan] = router.get('/interface/list') ?? [];
    const verified = verifySet(menuChecks, menu('/interface/list'), lan, { include: 'WAN' }, router);
    expect(verified).toMatchObject({ ok: false, errors: [{ property: 'include' }] });
  });

  it('renames interfaces through /interface, to names that are free', () => {
    const [, ether2] = router.get('/interface/ethernet') ?? [];
    expect(set('/interface', ether2, { name: 'lan' }).values).toEqual({ 'default-name': 'ether2', name: 'lan' });
    expect(verifySet(menuChecks, menu('/interface'), ether2, { name: 'ether1' }, router)).toMatchObject({
      ok: false,
      errors: [{ property: 'name', detail: expect.stringContaining('already have interface') }],
    });
    expect(verifySet(menuChecks, menu('/interface'), ether2, { arp: 'disabled' }, router)).toMatchObject({
      ok: false,
      errors: [{ detail: 'unknown parameter arp' }],
    });
  });

  it('settings start from nothing', () => {
    expect(set('/ip/settings', undefined, { 'rp-filter': 'strict', 'ip-forward': false }).values).toEqual({
      'rp-filter': 'strict',
      'ip-forward': 'false',
    });
    expect(set('/system/identity', undefined, { name: 'r1' }).values).toEqual({ name: 'r1' });
  });
});
