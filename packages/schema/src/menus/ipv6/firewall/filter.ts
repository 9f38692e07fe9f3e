import { defineMenu } from '../../../define.js';
import {
  action,
  chain,
  connectionMatch,
  ipv6FirewallMatch,
  ipv6Match,
  LIST_ACTIONS,
  markMatch,
  rateMatch,
  tcpFlagsMatch,
} from '../../../mixins/firewall-match.js';
import { MATCH_COLUMNS, ruleList, ruleState } from '../../../mixins/firewall-rule.js';
import { oneOf } from '../../../props/enum.js';
import { IPV6_FIREWALL_WINDOW } from '../../../windows.js';

const path = '/ipv6/firewall/filter';

/** Rules of IPv6 that let packets pass or drop them. */
export const ipv6Filter = defineMenu({
  path,
  title: 'IPv6 Filter Rules',
  singular: 'IPv6 Firewall Rule',
  ...ruleList,
  window: { tabOf: IPV6_FIREWALL_WINDOW, size: [1200, 640] },
  tree: ['IPv6', 'Firewall', 'Filter Rules'],
  help: 'Rules of IPv6 that accept or drop packets, evaluated from top to bottom.',
  props: {
    ...chain(path, ['input', 'forward', 'output'], 'forward'),
    ...ipv6FirewallMatch,
    ...connectionMatch,
    ...markMatch,
    ...tcpFlagsMatch,
    ...ipv6Match,
    ...rateMatch,
    ...action(
      path,
      ['accept', 'drop', 'reject', 'jump', 'return', 'log', 'passthrough', 'fasttrack-connection', ...LIST_ACTIONS],
      '/ipv6/firewall/address-list',
    ),
    'reject-with': {
      kind: oneOf([
        'icmp-no-route',
        'icmp-admin-prohibited',
        'icmp-not-neighbour',
        'icmp-address-unreachable',
        'icmp-port-unreachable',
        'tcp-reset',
        'icmp-err-src-routing-header',
        'icmp-headers-too-long',
      ]),
      label: 'Reject With',
      help: 'Answer to the sender of a rejected packet; with tcp-reset, to other packets than TCP it is port unreachable.',
      tab: 'Action',
      default: 'icmp-no-route',
      unset: true,
      when: { prop: 'action', values: ['reject'] },
      dataplane: true,
    },
    ...ruleState,
  },
  columns: ['action', 'chain', ...MATCH_COLUMNS, 'connection-state', 'bytes', 'packets'],
});
