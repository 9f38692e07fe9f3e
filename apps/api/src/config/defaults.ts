/** Configuration that an empty database is filled with. */

/** Configuration that a new router starts with: the lab's networks, memory ports, claimed network cards, or nothing. */
type DefaultsProfile = 'lab' | 'memory' | 'ports' | 'none';

/** A row to add; ids are given when it is stored. */
export interface DefaultRow {
  readonly menu: string;
  readonly values: Readonly<Record<string, string>>;
  readonly disabled: boolean;
  readonly comment: string;
}

const row = (menu: string, values: Readonly<Record<string, string>>, comment = 'defconf'): DefaultRow => ({
  menu,
  values,
  disabled: false,
  comment,
});

/** Network of the router's LAN port number `index`, from 0: 192.168.88.1/24, 192.168.89.1/24 … */
const lanAddress = (index: number): string => `192.168.${88 + index}.1/24`;

/** The same of IPv6 for the lab and memory ports, in the documentation prefix (RFC 3849): 2001:db8:88::1/64 … */
const lanIpv6Address = (index: number): string => `2001:db8:${88 + index}::1/64`;

/** LAN ports that get a network of their own; further ones would leave the range of private networks used here. */
const MAX_LAN_PORTS = 100;

/**
 * Rows of the default configuration for the ports named, in claim order: the first is WAN, the others are
 * LAN, each with its own network; a single port is LAN. The rows of the ports themselves must exist.
 */
export function defaultConfiguration(profile: DefaultsProfile, ports: readonly string[]): DefaultRow[] {
  const [first, ...others] = ports;
  if (profile === 'none' || first === undefined) return [];
  const wan = others.length > 0 ? first : undefined;
  const lan = wan === undefined ? [first] : others;
  const isTest = profile === 'lab' || profile === 'memory';
  return [
    row('/interface/list', { name: 'WAN' }, 'defconf: interfaces towards the internet'),
    row('/interface/list', { name: 'LAN' }, 'defconf: interfaces of the local networks'),
    ...(wan === undefined ? [] : [wanMember(profile, wan)]),
    ...lan.map((name) => row('/interface/list/member', { list: 'LAN', interface: name })),
    ...(isTest && wan !== undefined ? testUplink(wan) : []),
    ...lan
      .slice(0, MAX_LAN_PORTS)
      .map((name, index) => row('/ip/address', { address: lanAddress(index), interface: name })),
    ...(isTest ? lan.slice(0, MAX_LAN_PORTS) : []).map((name, index) =>
      row('/ipv6/address', { address: lanIpv6Address(index), interface: name }),
    ),
    row('/ip/firewall/nat', masquerade, 'defconf: masquerade'),
    ...filterRules.map(([comment, values]) => row('/ip/firewall/filter', values, `defconf: ${comment}`)),
    ...badIpv6
      .filter(([network]) => !isTest || network !== DOCUMENTATION)
      .map(([address, comment]) =>
        row('/ipv6/firewall/address-list', { list: BAD_IPV6, address }, `defconf: ${comment}`),
      ),
    ...ipv6FilterRules.map(([comment, values]) => row('/ipv6/firewall/filter', values, `defconf: ${comment}`)),
    ...(profile === 'lab' ? labSubscribers : []),
  ];
}

function wanMember(profile: DefaultsProfile, wan: string): DefaultRow {
  const comment =
    profile === 'ports' ? 'defconf: give this port an address under IP Addresses and a default route' : 'defconf';
  return row('/interface/list/member', { list: 'WAN', interface: wan }, comment);
}

/**
 * The uplink of the lab and of memory ports is TEST-NET-3 (RFC 5737); the host 203.0.113.1 there is the default
 * gateway.
 */
const testUplink = (wan: string): DefaultRow[] => [
  row('/ip/address', { address: '203.0.113.2/24', interface: wan }),
  row('/ip/route', { 'dst-address': '0.0.0.0/0', gateway: '203.0.113.1' }),
  row('/ipv6/address', { address: '2001:db8:203::2/64', interface: wan, advertise: 'false' }),
  row('/ipv6/route', { 'dst-address': '::/0', gateway: '2001:db8:203::1' }),
];

const subscriber = (name: string, address: string, rate: string): DefaultRow =>
  row('/queue/simple', { name, target: `${address}/32`, 'max-limit': `${rate}/${rate}` }, 'defconf: a subscriber');

/** Two hosts of the lab that make traffic of their own; its other hosts have all there is. */
const labSubscribers: readonly DefaultRow[] = [
  subscriber('laptop', '192.168.88.20', '20000000'),
  subscriber('tv', '192.168.89.20', '5000000'),
];

const masquerade = { chain: 'srcnat', action: 'masquerade', 'out-interface-list': 'WAN' };

const filterRules: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  [
    'accept established, related and untracked',
    { chain: 'input', action: 'accept', 'connection-state': 'established,related,untracked' },
  ],
  ['drop invalid', { chain: 'input', action: 'drop', 'connection-state': 'invalid' }],
  ['accept ICMP', { chain: 'input', action: 'accept', protocol: 'icmp' }],
  ['drop all that does not come from LAN', { chain: 'input', action: 'drop', 'in-interface-list': '!LAN' }],
  ['fasttrack', { chain: 'forward', action: 'fasttrack-connection', 'connection-state': 'established,related' }],
  [
    'accept established, related and untracked',
    { chain: 'forward', action: 'accept', 'connection-state': 'established,related,untracked' },
  ],
  ['drop invalid', { chain: 'forward', action: 'drop', 'connection-state': 'invalid' }],
  [
    'drop all from WAN that is not translated by dstnat',
    {
      chain: 'forward',
      action: 'drop',
      'connection-state': 'new',
      'connection-nat-state': '!dstnat',
      'in-interface-list': 'WAN',
    },
  ],
];

const BAD_IPV6 = 'bad_ipv6';
const DOCUMENTATION = '2001:db8::/32';

/** Networks whose addresses no packet between networks may have (RFC 6890, RFC 3879, RFC 6666, RFC 3701). */
const badIpv6: readonly (readonly [network: string, comment: string])[] = [
  ['::', 'unspecified address'],
  ['::1', 'loopback address'],
  ['fec0::/10', 'site-local addresses'],
  ['::ffff:0.0.0.0/96', 'IPv4-mapped addresses'],
  ['::/96', 'IPv4-compatible addresses'],
  ['100::/64', 'discard-only prefix'],
  [DOCUMENTATION, 'documentation prefix'],
  ['2001:10::/28', 'ORCHID prefix'],
  ['3ffe::/16', '6bone'],
];

const ipv6FilterRules: typeof filterRules = [
  [
    'accept established, related and untracked',
    { chain: 'input', action: 'accept', 'connection-state': 'established,related,untracked' },
  ],
  ['drop invalid', { chain: 'input', action: 'drop', 'connection-state': 'invalid' }],
  ['accept ICMPv6', { chain: 'input', action: 'accept', protocol: 'icmpv6' }],
  ['accept UDP traceroute', { chain: 'input', action: 'accept', protocol: 'udp', 'dst-port': '33434-33534' }],
  [
    'accept prefix delegation of DHCPv6',
    { chain: 'input', action: 'accept', protocol: 'udp', 'dst-port': '546', 'src-address': 'fe80::/10' },
  ],
  ['accept IKE', { chain: 'input', action: 'accept', protocol: 'udp', 'dst-port': '500,4500' }],
  ['accept IPsec AH', { chain: 'input', action: 'accept', protocol: 'ipsec-ah' }],
  ['accept IPsec ESP', { chain: 'input', action: 'accept', protocol: 'ipsec-esp' }],
  ['drop all that does not come from LAN', { chain: 'input', action: 'drop', 'in-interface-list': '!LAN' }],
  ['fasttrack', { chain: 'forward', action: 'fasttrack-connection', 'connection-state': 'established,related' }],
  [
    'accept established, related and untracked',
    { chain: 'forward', action: 'accept', 'connection-state': 'established,related,untracked' },
  ],
  ['drop invalid', { chain: 'forward', action: 'drop', 'connection-state': 'invalid' }],
  ['drop packets from bad addresses', { chain: 'forward', action: 'drop', 'src-address-list': BAD_IPV6 }],
  ['drop packets to bad addresses', { chain: 'forward', action: 'drop', 'dst-address-list': BAD_IPV6 }],
  ['drop hop limit 1 (RFC 4890)', { chain: 'forward', action: 'drop', protocol: 'icmpv6', 'hop-limit': 'equal:1' }],
  ['accept ICMPv6', { chain: 'forward', action: 'accept', protocol: 'icmpv6' }],
  ['accept HIP', { chain: 'forward', action: 'accept', protocol: '139' }],
  ['accept IKE', { chain: 'forward', action: 'accept', protocol: 'udp', 'dst-port': '500,4500' }],
  ['accept IPsec AH', { chain: 'forward', action: 'accept', protocol: 'ipsec-ah' }],
  ['accept IPsec ESP', { chain: 'forward', action: 'accept', protocol: 'ipsec-esp' }],
  ['drop all that does not come from LAN', { chain: 'forward', action: 'drop', 'in-interface-list': '!LAN' }],
];
