import type { Kind } from '../kind.js';
import type { Prop } from '../menu.js';
import { bool } from '../props/bool.js';
import { duration } from '../props/duration.js';
import { oneOf } from '../props/enum.js';
import { hopLimitMatch } from '../props/hop-limit-match.js';
import { icmpOptions } from '../props/icmp-options.js';
import { int } from '../props/int.js';
import { intRange } from '../props/int-range.js';
import { ipProtocol } from '../props/ip-protocol.js';
import { ipRange } from '../props/ip-range.js';
import { ipv6AddressRange } from '../props/ipv6-range.js';
import { limit } from '../props/limit.js';
import { withNot } from '../props/not.js';
import { nth } from '../props/nth.js';
import { portList } from '../props/port-list.js';
import { reference } from '../props/reference.js';
import { setOf, triStateSetOf } from '../props/set.js';
import { tableReference } from '../props/table-name.js';
import { name, text } from '../props/text.js';
import { volumeRange } from '../props/volume-range.js';
import { weekdayTimes } from '../props/weekday-times.js';
import { NO_MARK } from './queue.js';

/** Help of conditions that count packets. */
const SUPER_FRAMES = 'Segments that arrive as one super-frame (TSO, GRO) are one packet.';

type Tab = 'General' | 'Advanced' | 'Extra';

/** A condition that a rule may have. */
const plainMatch = (kind: Kind, label: string, tab: Tab, help: string): Prop => ({
  kind,
  label,
  help,
  tab,
  unset: true,
  dataplane: true,
});

/** A condition that a rule may have, with `!` to invert it. */
const match = (kind: Kind, label: string, tab: Tab, help: string): Prop => ({
  ...plainMatch(withNot(kind), label, tab, help),
  not: true,
});

const anInterface = reference('/interface', 'name', { keywords: ['all-ethernet', 'all-vlan'] });
const anInterfaceList = reference('/interface/list', 'name');
/** Menu with the address lists of a family. */
export type AddressListMenu = '/ip/firewall/address-list' | '/ipv6/firewall/address-list';

const addressListIn = (menu: AddressListMenu): Kind => name({ ref: [{ menu, prop: 'list' }] });

/** Actions that put an address of the packet into a list and go on with the next rule. */
export const LIST_ACTIONS = ['add-src-to-address-list', 'add-dst-to-address-list'] as const;

/** Flags in the order of the TCP header's bits, lowest first (RFC 9293 §3.1). */
export const TCP_FLAGS = ['fin', 'syn', 'rst', 'psh', 'ack', 'urg', 'ece', 'cwr'] as const;

export const CONNECTION_STATES = ['invalid', 'established', 'related', 'new', 'untracked'] as const;

const ports = 'Needs protocol tcp or udp.';

/** Conditions that filter, mangle and NAT rules of a family share, in the order of the dialog. */
const firewallMatchOf = (range: Kind, lists: AddressListMenu): Readonly<Record<string, Prop>> => ({
  'src-address': match(range, 'Src. Address', 'General', 'Source address, prefix or range.'),
  'dst-address': match(range, 'Dst. Address', 'General', 'Destination address, prefix or range.'),
  'src-address-list': match(
    addressListIn(lists),
    'Src. Address List',
    'General',
    'The source address is in this address list.',
  ),
  'dst-address-list': match(
    addressListIn(lists),
    'Dst. Address List',
    'General',
    'The destination address is in this address list.',
  ),
  protocol: match(ipProtocol, 'Protocol', 'General', 'IP protocol by name or number.'),
  'src-port': match(portList, 'Src. Port', 'General', `Source ports and port ranges. ${ports}`),
  'dst-port': match(portList, 'Dst. Port', 'General', `Destination ports and port ranges. ${ports}`),
  port: match(portList, 'Any. Port', 'General', `The source or the destination port is one of these. ${ports}`),
  'in-interface': match(anInterface, 'In. Interface', 'General', 'Interface the packet came in on.'),
  'out-interface': match(anInterface, 'Out. Interface', 'General', 'Interface the packet leaves by.'),
  'in-interface-list': match(
    anInterfaceList,
    'In. Interface List',
    'General',
    'The incoming interface is in this list.',
  ),
  'out-interface-list': match(
    anInterfaceList,
    'Out. Interface List',
    'General',
    'The outgoing interface is in this list.',
  ),
});

/** Conditions that filter, mangle and NAT rules of IPv4 share. */
export const firewallMatch = firewallMatchOf(ipRange, '/ip/firewall/address-list');

/** Those of IPv6. */
export const ipv6FirewallMatch = firewallMatchOf(ipv6AddressRange, '/ipv6/firewall/address-list');

/** Conditions on size, volume, time and share of the packets, in the order of the dialog. */
export const rateMatch: Readonly<Record<string, Prop>> = {
  'packet-size': match(
    intRange({ min: 0, max: 65_535 }),
    'Packet Size',
    'Advanced',
    'Length of the IP packet in bytes, or a range of lengths.',
  ),
  'connection-bytes': plainMatch(
    volumeRange,
    'Connection Bytes',
    'Advanced',
    'IP bytes that a TCP or UDP connection (no other matches) has carried in both directions; 0 at the end has no upper bound.',
  ),
  limit: match(
    limit,
    'Limit',
    'Extra',
    'Tokens per time and how many may wait: 10,5:packet. Matches while there are tokens.',
  ),
  nth: match(nth, 'Nth', 'Extra', `One packet of each group: 3,1 is the first of three. ${SUPER_FRAMES}`),
  time: match(weekdayTimes, 'Time', 'Extra', 'Time of day and days of the week by the clock of the router.'),
  random: plainMatch(
    int({ min: 1, max: 99, unit: '%' }),
    'Random',
    'Extra',
    `Share of the packets in percent. ${SUPER_FRAMES}`,
  ),
};

/** Mark to match or to set, with the marks that rules set as suggestions; a mark that no rule sets never matches. */
export const mark = (property: 'new-packet-mark' | 'new-connection-mark'): Kind =>
  name({
    values: [NO_MARK],
    ref: ['/ip/firewall/mangle', '/ipv6/firewall/mangle'].map((menu) => ({ menu, prop: property })),
  });

/** Conditions on marks and on the DSCP, in the order of the dialog. */
export const markMatch: Readonly<Record<string, Prop>> = {
  'packet-mark': match(
    mark('new-packet-mark'),
    'Packet Mark',
    'General',
    'Mark that a mangle rule gave the packet; no-mark for packets without.',
  ),
  'connection-mark': match(
    mark('new-connection-mark'),
    'Connection Mark',
    'General',
    'Mark that a mangle rule gave the connection; no-mark for connections without.',
  ),
  'routing-mark': match(
    tableReference({ keywords: [NO_MARK] }),
    'Routing Mark',
    'General',
    'Routing mark that a mangle rule gave the packet; no-mark for packets without.',
  ),
  dscp: match(int({ min: 0, max: 63 }), 'DSCP', 'Advanced', 'Differentiated services code point of the IP header.'),
};

/** Conditions on the connection; only filter and mangle rules see every packet of one. */
export const connectionMatch: Readonly<Record<string, Prop>> = {
  'connection-state': match(
    setOf(CONNECTION_STATES),
    'Connection State',
    'General',
    'State that connection tracking gave the packet; any of the chosen ones.',
  ),
  'connection-nat-state': match(
    setOf(['srcnat', 'dstnat']),
    'Connection NAT State',
    'General',
    'Address translation in force for the connection; any of the chosen ones.',
  ),
};

/** Condition on the flags of a TCP segment; only filter and mangle rules see every segment of a connection. */
export const tcpFlagsMatch: Readonly<Record<string, Prop>> = {
  'tcp-flags': {
    kind: triStateSetOf(TCP_FLAGS),
    label: 'TCP Flags',
    help: 'Flags that must be set and, with !, flags that must be clear. Needs protocol tcp.',
    tab: 'Advanced',
    unset: true,
    dataplane: true,
  },
};

/** Condition on ICMP messages. */
export const icmpMatch: Readonly<Record<string, Prop>> = {
  'icmp-options': match(
    icmpOptions,
    'ICMP Options',
    'Advanced',
    'ICMP type and codes, such as 8 or 3:4. Needs protocol icmp.',
  ),
};

/** Conditions on ICMPv6 messages and on the hop limit. */
export const ipv6Match: Readonly<Record<string, Prop>> = {
  'icmp-options': match(
    icmpOptions,
    'ICMP Options',
    'Advanced',
    'ICMPv6 type and codes, such as 128 or 1:3. Needs protocol icmpv6.',
  ),
  'hop-limit': plainMatch(
    hopLimitMatch,
    'Hop Limit',
    'Advanced',
    'Hop limit of the packet as it came in: equal:1, greater-than:64.',
  ),
};

/** Log line for each match, whatever the action. */
export const logging: Readonly<Record<string, Prop>> = {
  log: {
    kind: bool,
    label: 'Log',
    help: 'Write a log line for each packet that matches; segments of a super-frame (TSO, GRO) share one, which counts them.',
    tab: 'Action',
    default: 'false',
    dataplane: true,
  },
  'log-prefix': {
    kind: text({ max: 31, oneLine: true }),
    label: 'Log Prefix',
    help: 'Put before the log line, at most 31 characters.',
    tab: 'Action',
    default: '',
    dataplane: true,
  },
};

/**
 * Chain of a rule. `builtin` are the hooks; any other name is a user-defined chain, which is reached by `jump`.
 * `proposed` is the chain of most rules.
 */
export const chain = (menu: string, builtin: readonly string[], proposed: string): Readonly<Record<string, Prop>> => ({
  chain: {
    kind: name({ values: builtin, ref: [{ menu, prop: 'chain' }] }),
    label: 'Chain',
    help: `Chain the rule belongs to: ${builtin.join(', ')} or a name of your own.`,
    tab: 'General',
    proposed,
    required: true,
    quickFilter: { all: 'all chains', op: 'is' },
    dataplane: true,
  },
});

/** Action of a rule, the chain in which `jump` continues, and the list to which addresses are added. */
export const action = (
  menu: string,
  values: readonly string[],
  lists: AddressListMenu,
): Readonly<Record<string, Prop>> => ({
  action: {
    kind: oneOf(values),
    label: 'Action',
    help: 'What happens to a packet that meets every condition.',
    tab: 'Action',
    default: 'accept',
    dataplane: true,
  },
  'jump-target': {
    kind: name({ ref: [{ menu, prop: 'chain' }] }),
    label: 'Jump Target',
    help: 'Chain to continue in; it returns here when no rule there decides.',
    tab: 'Action',
    unset: true,
    when: { prop: 'action', values: ['jump'] },
    dataplane: true,
  },
  'address-list': {
    kind: addressListIn(lists),
    label: 'Address List',
    help: 'Address list that the address is put into.',
    tab: 'Action',
    unset: true,
    when: { prop: 'action', values: LIST_ACTIONS },
    dataplane: true,
  },
  'address-list-timeout': {
    kind: duration({ minMs: 1_000, keywords: ['none-dynamic'] }),
    label: 'Timeout',
    help: 'How long the entry lives after the last packet; none-dynamic until the data plane ends.',
    tab: 'Action',
    default: 'none-dynamic',
    unset: true,
    when: { prop: 'action', values: LIST_ACTIONS },
    dataplane: true,
  },
});
