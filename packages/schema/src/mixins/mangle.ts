import { defineMenu } from '../define.js';
import type { Menu, Prop, ReferenceTarget } from '../menu.js';
import type { AddressFamily } from '../props/address-family.js';
import { bool } from '../props/bool.js';
import { int } from '../props/int.js';
import { tableReference } from '../props/table-name.js';
import {
  action,
  chain,
  connectionMatch,
  LIST_ACTIONS,
  mark,
  markMatch,
  rateMatch,
  tcpFlagsMatch,
} from './firewall-match.js';
import { FIREWALL, MATCH_COLUMNS, ruleMenu, ruleState } from './firewall-rule.js';
import { NO_MARK } from './queue.js';

/** Actions that change the packet or its connection, after which the next rule may follow. */
const MANGLE_MARKING_ACTIONS = ['mark-packet', 'mark-connection', 'mark-routing', 'change-dscp', 'change-mss'] as const;

/** Marks that rules define. */
const markTargets: readonly ReferenceTarget[] = ['packet', 'connection'].map((what) => ({
  property: `new-${what}-mark`,
  word: `${what} mark`,
  when: { prop: 'action', value: `mark-${what}` },
}));

/** What the actions of mangle set. */
const mangleActions: Readonly<Record<string, Prop>> = {
  'new-packet-mark': {
    kind: mark('new-packet-mark'),
    label: 'New Packet Mark',
    help: 'Mark that the packet gets; no-mark removes it.',
    tab: 'Action',
    unset: true,
    when: { prop: 'action', values: ['mark-packet'] },
    dataplane: true,
  },
  'new-connection-mark': {
    kind: mark('new-connection-mark'),
    label: 'New Connection Mark',
    help: 'Mark that the connection gets; no-mark removes it.',
    tab: 'Action',
    unset: true,
    when: { prop: 'action', values: ['mark-connection'] },
    dataplane: true,
  },
  'new-routing-mark': {
    kind: tableReference({ keywords: [NO_MARK] }),
    label: 'New Routing Mark',
    help: 'Routing table in which the packet is looked up before main; no-mark removes the mark.',
    tab: 'Action',
    unset: true,
    when: { prop: 'action', values: ['mark-routing'] },
    dataplane: true,
  },
  'new-dscp': {
    kind: int({ min: 0, max: 63 }),
    label: 'New DSCP',
    help: 'Differentiated services code point that is written into the IP header.',
    tab: 'Action',
    unset: true,
    when: { prop: 'action', values: ['change-dscp'] },
    dataplane: true,
  },
  'new-mss': {
    kind: int({ min: 40, max: 65_534, keywords: ['clamp-to-pmtu'] }),
    label: 'New TCP MSS',
    help: 'Maximum segment size of SYN packets, or clamp-to-pmtu for the largest that the MTU allows.',
    tab: 'Action',
    unset: true,
    when: { prop: 'action', values: ['change-mss'] },
    dataplane: true,
  },
  passthrough: {
    kind: bool,
    label: 'Passthrough',
    help: 'Continue with the next rule; otherwise this one ends the table.',
    tab: 'Action',
    default: 'true',
    when: { prop: 'action', values: MANGLE_MARKING_ACTIONS },
    dataplane: true,
  },
};

/** Columns of mangle rules. */
const MANGLE_COLUMNS = [
  'action',
  'new-packet-mark',
  'new-connection-mark',
  'new-routing-mark',
  'chain',
  ...MATCH_COLUMNS,
  'connection-state',
  'packet-mark',
  'connection-mark',
  'routing-mark',
  'bytes',
  'packets',
] as const;

/** Rules of a family that mark packets and connections, and change their headers. */
export function mangleMenu(family: AddressFamily): Menu {
  const path = `/${family}/firewall/mangle`;
  const { match, icmpMatch, lists } = FIREWALL[family];
  return defineMenu({
    ...ruleMenu(family, path, {
      title: 'Mangle',
      singular: 'Mangle Rule',
      help: 'mark packets and connections and change headers, evaluated from top to bottom.',
    }),
    referenceTargets: markTargets,
    props: {
      ...chain(path, ['prerouting', 'input', 'forward', 'output', 'postrouting'], 'prerouting'),
      ...match,
      ...connectionMatch,
      ...markMatch,
      ...tcpFlagsMatch,
      ...icmpMatch,
      ...rateMatch,
      ...action(
        path,
        [
          'accept',
          'jump',
          'return',
          'log',
          'passthrough',
          ...(family === 'ip' ? ['fasttrack-connection'] : []),
          ...MANGLE_MARKING_ACTIONS,
          ...LIST_ACTIONS,
        ],
        lists,
      ),
      ...mangleActions,
      ...ruleState,
    },
    columns: MANGLE_COLUMNS,
  });
}
