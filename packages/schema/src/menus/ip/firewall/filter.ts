import { defineMenu } from '../../../define.js';
import { comment } from '../../../mixins/comment.js';
import { counters } from '../../../mixins/counters.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from '../../../mixins/disabled.js';
import {
  action,
  chain,
  connectionMatch,
  firewallMatch,
  icmpMatch,
  logging,
  tcpFlagsMatch,
} from '../../../mixins/firewall-match.js';
import { oneOf } from '../../../props/enum.js';

const path = '/ip/firewall/filter';

/** Which packets may pass. */
export const firewallFilter = defineMenu({
  path,
  title: 'Filter Rules',
  singular: 'Firewall Rule',
  kind: 'ordered',
  tree: ['IP', 'Firewall', 'Filter Rules'],
  help: 'Rules that let packets pass or stop them, evaluated from top to bottom.',
  props: {
    ...chain(path, ['input', 'forward', 'output'], 'forward'),
    ...firewallMatch,
    ...connectionMatch,
    ...tcpFlagsMatch,
    ...icmpMatch,
    ...action(path, ['accept', 'drop', 'reject', 'jump', 'return', 'log', 'passthrough', 'fasttrack-connection']),
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
      help: 'Answer to the sender of a rejected packet.',
      tab: 'Action',
      default: 'icmp-network-unreachable',
      unset: true,
      when: { prop: 'action', values: ['reject'] },
      dataplane: true,
    },
    ...logging,
    ...counters(),
    ...disabled(),
    ...comment(),
    ...invalid('Statistics'),
    ...dynamic('Statistics'),
  },
  flags: [disabledFlag, invalidFlag, dynamicFlag],
  columns: [
    'action',
    'chain',
    'src-address',
    'dst-address',
    'protocol',
    'src-port',
    'dst-port',
    'in-interface',
    'out-interface',
    'in-interface-list',
    'out-interface-list',
    'src-address-list',
    'dst-address-list',
    'connection-state',
    'bytes',
    'packets',
  ],
  tabs: ['General', 'Advanced', 'Action', 'Statistics'],
  commands: [
    'add',
    'set',
    'remove',
    'unset',
    'enable',
    'disable',
    'comment',
    'move',
    'reset-counters',
    'reset-counters-all',
  ],
  refreshMs: 1_000,
  stored: true,
});
