import { defineMenu } from '../../../define.js';
import {
  action,
  chain,
  connectionMatch,
  firewallMatch,
  icmpMatch,
  LIST_ACTIONS,
  markMatch,
  rateMatch,
  tcpFlagsMatch,
} from '../../../mixins/firewall-match.js';
import { MATCH_COLUMNS, ruleList, ruleState } from '../../../mixins/firewall-rule.js';
import { oneOf } from '../../../props/enum.js';
import { FIREWALL_WINDOW } from '../../../windows.js';

const path = '/ip/firewall/filter';

/** Rules that let packets pass or drop them. */
export const firewallFilter = defineMenu({
  path,
  title: 'Filter Rules',
  singular: 'Firewall Rule',
  ...ruleList,
  // The system adds a rule that shows the counters of FastTrack.
  window: { tabOf: FIREWALL_WINDOW, size: [1200, 640] },
  source: 'union',
  tree: ['IP', 'Firewall', 'Filter Rules'],
  help: 'Rules that accept or drop packets, evaluated from top to bottom.',
  props: {
    ...chain(path, ['input', 'forward', 'output'], 'forward'),
    ...firewallMatch,
    ...connectionMatch,
    ...markMatch,
    ...tcpFlagsMatch,
    ...icmpMatch,
    ...rateMatch,
    ...action(path, [
      'accept',
      'drop',
      'reject',
      'jump',
      'return',
      'log',
      'passthrough',
      'fasttrack-connection',
      ...LIST_ACTIONS,
    ]),
    'reject-with': {
      kind: oneOf([
        'icmp-network-unreachable',
        'icmp-host-unreachable',
        'icmp-protocol-unreachable',
        'icmp-port-unreachable',
        'icmp-net-prohibited',
        'icmp-host-prohibited',
        'icmp-admin-prohibited',
        'tcp-reset',
      ]),
      label: 'Reject With',
      help: 'Answer to the sender of a rejected packet; with tcp-reset, to other packets than TCP it is port unreachable.',
      tab: 'Action',
      default: 'icmp-network-unreachable',
      unset: true,
      when: { prop: 'action', values: ['reject'] },
      dataplane: true,
    },
    ...ruleState,
  },
  columns: ['action', 'chain', ...MATCH_COLUMNS, 'connection-state', 'bytes', 'packets'],
});
