import { defineMenu } from '../../../define.js';
import {
  action,
  chain,
  ipv6FirewallMatch,
  ipv6Match,
  LIST_ACTIONS,
  markMatch,
  rateMatch,
} from '../../../mixins/firewall-match.js';
import { MATCH_COLUMNS, ruleList, ruleState } from '../../../mixins/firewall-rule.js';
import { bool } from '../../../props/bool.js';
import { intRange } from '../../../props/int-range.js';
import { ipv6AddressRange } from '../../../props/ipv6-range.js';
import { IPV6_FIREWALL_WINDOW } from '../../../windows.js';

const path = '/ipv6/firewall/nat';

/** Rules of IPv6 that translate addresses and ports of connections. */
export const ipv6Nat = defineMenu({
  path,
  title: 'IPv6 NAT',
  singular: 'IPv6 NAT Rule',
  ...ruleList,
  window: { tabOf: IPV6_FIREWALL_WINDOW },
  tree: ['IPv6', 'Firewall', 'NAT'],
  help: 'Rules of IPv6 that translate addresses; the first packet of a connection decides for all of it.',
  props: {
    ...chain(path, ['srcnat', 'dstnat'], 'srcnat'),
    ...ipv6FirewallMatch,
    ...markMatch,
    ...ipv6Match,
    ...rateMatch,
    ...action(
      path,
      [
        'accept',
        'jump',
        'return',
        'log',
        'passthrough',
        ...LIST_ACTIONS,
        'masquerade',
        'src-nat',
        'dst-nat',
        'redirect',
        'netmap',
      ],
      '/ipv6/firewall/address-list',
    ),
    'to-address': {
      kind: ipv6AddressRange,
      label: 'To Address',
      help: 'New address, or a range to choose from; with netmap a prefix, in which the host bits stay.',
      tab: 'Action',
      unset: true,
      when: { prop: 'action', values: ['src-nat', 'dst-nat', 'netmap'] },
      dataplane: true,
    },
    'to-ports': {
      kind: intRange({ min: 0, max: 65_535 }),
      label: 'To Ports',
      help: 'New port, or a range to choose from. Needs protocol tcp or udp.',
      tab: 'Action',
      unset: true,
      when: { prop: 'action', values: ['masquerade', 'src-nat', 'dst-nat', 'redirect', 'netmap'] },
      dataplane: true,
    },
    'randomise-ports': {
      kind: bool,
      label: 'Randomise Ports',
      help: 'Choose the new source port at random.',
      tab: 'Action',
      unset: true,
      when: { prop: 'action', values: ['masquerade', 'src-nat'] },
      dataplane: true,
    },
    ...ruleState,
  },
  columns: ['action', 'chain', ...MATCH_COLUMNS, 'to-address', 'to-ports', 'bytes', 'packets'],
});
