import type { Prop, ReferenceTarget } from '../menu.js';
import { bool } from '../props/bool.js';
import { int } from '../props/int.js';
import { mark } from './firewall-match.js';
import { MATCH_COLUMNS } from './firewall-rule.js';

/** Actions that change the packet or its connection, after which the next rule may follow. */
export const MANGLE_MARKING_ACTIONS = [
  'mark-packet',
  'mark-connection',
  'mark-routing',
  'change-dscp',
  'change-mss',
] as const;

/** Marks that rules define. */
export const markTargets: readonly ReferenceTarget[] = ['packet', 'connection', 'routing'].map((what) => ({
  property: `new-${what}-mark`,
  word: `${what} mark`,
  when: { prop: 'action', value: `mark-${what}` },
}));

/** What the actions of mangle set. */
export const mangleActions: Readonly<Record<string, Prop>> = {
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
    kind: mark('new-routing-mark'),
    label: 'New Routing Mark',
    help: 'Routing mark; without effect as long as there is one routing table.',
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
export const MANGLE_COLUMNS = [
  'action',
  'new-packet-mark',
  'new-connection-mark',
  'chain',
  ...MATCH_COLUMNS,
  'connection-state',
  'packet-mark',
  'connection-mark',
  'bytes',
  'packets',
] as const;
