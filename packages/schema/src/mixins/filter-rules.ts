import { defineMenu } from '../define.js';
import type { Menu } from '../menu.js';
import type { AddressFamily } from '../props/address-family.js';
import { oneOf } from '../props/enum.js';
import { action, chain, connectionMatch, LIST_ACTIONS, markMatch, rateMatch, tcpFlagsMatch } from './firewall-match.js';
import { FIREWALL, MATCH_COLUMNS, ruleMenu, ruleState } from './firewall-rule.js';

/** Answers to the sender of a rejected packet; the first is the default. */
const REJECTIONS = {
  ip: [
    'icmp-network-unreachable',
    'icmp-host-unreachable',
    'icmp-protocol-unreachable',
    'icmp-port-unreachable',
    'icmp-net-prohibited',
    'icmp-host-prohibited',
    'icmp-admin-prohibited',
    'tcp-reset',
  ],
  ipv6: [
    'icmp-no-route',
    'icmp-admin-prohibited',
    'icmp-not-neighbour',
    'icmp-address-unreachable',
    'icmp-port-unreachable',
    'tcp-reset',
    'icmp-err-src-routing-header',
    'icmp-headers-too-long',
  ],
} as const;

/** Rules of a family that let packets pass or drop them. */
export function filterMenu(family: AddressFamily): Menu {
  const path = `/${family}/firewall/filter`;
  const { match, icmpMatch, lists } = FIREWALL[family];
  const names = {
    title: 'Filter Rules',
    singular: 'Firewall Rule',
    help: 'accept or drop packets, evaluated from top to bottom.',
  };
  const menu = ruleMenu(family, path, names);
  return defineMenu({
    ...menu,
    ...(menu.window && { window: { ...menu.window, size: [1200, 640] } }),
    // The system adds a rule that shows the counters of FastTrack.
    source: 'union',
    props: {
      ...chain(path, ['input', 'forward', 'output'], 'forward'),
      ...match,
      ...connectionMatch,
      ...markMatch,
      ...tcpFlagsMatch,
      ...icmpMatch,
      ...rateMatch,
      ...action(
        path,
        ['accept', 'drop', 'reject', 'jump', 'return', 'log', 'passthrough', 'fasttrack-connection', ...LIST_ACTIONS],
        lists,
      ),
      'reject-with': {
        kind: oneOf(REJECTIONS[family]),
        label: 'Reject With',
        help: 'Answer to the sender of a rejected packet; with tcp-reset, to other packets than TCP it is port unreachable.',
        tab: 'Action',
        default: REJECTIONS[family][0],
        unset: true,
        when: { prop: 'action', values: ['reject'] },
        dataplane: true,
      },
      ...ruleState,
    },
    columns: ['action', 'chain', ...MATCH_COLUMNS, 'connection-state', 'bytes', 'packets'],
  });
}
