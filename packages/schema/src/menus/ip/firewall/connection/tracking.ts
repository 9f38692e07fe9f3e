import { defineMenu } from '../../../../define.js';
import type { Prop } from '../../../../menu.js';
import { readOnly } from '../../../../mixins/read-only.js';
import { bool } from '../../../../props/bool.js';
import { duration } from '../../../../props/duration.js';
import { oneOfWithYesNo } from '../../../../props/enum.js';
import { int } from '../../../../props/int.js';

const timeout = (label: string, value: string, help: string): Prop => ({
  kind: duration({ minMs: 1_000 }),
  label,
  help,
  tab: 'Timeouts',
  default: value,
  dataplane: true,
});
const total = (label: string, help: string): Prop => ({
  kind: int({ min: 0, max: 0xffff_ffff }),
  label,
  help,
  tab: 'Status',
  readOnly: true,
});

/** Settings of connection tracking. */
export const connectionTracking = defineMenu({
  path: '/ip/firewall/connection/tracking',
  title: 'Connection Tracking',
  singular: 'Connection Tracking',
  kind: 'settings',
  tree: ['IP', 'Firewall', 'Tracking'],
  help: 'When connections are tracked and how long they are remembered.',
  props: {
    enabled: {
      kind: oneOfWithYesNo(['auto', 'yes', 'no']),
      label: 'Enabled',
      help: 'Track connections always, never, or as soon as a firewall rule exists (auto).',
      tab: 'General',
      default: 'auto',
      dataplane: true,
    },
    'tcp-syn-sent-timeout': timeout('TCP SYN Sent Timeout', '5s', 'After the first SYN.'),
    'tcp-syn-received-timeout': timeout('TCP SYN Received Timeout', '5s', 'After the answer to the SYN.'),
    'tcp-established-timeout': timeout('TCP Established Timeout', '1d', 'While an established connection is silent.'),
    'tcp-fin-wait-timeout': timeout('TCP FIN Wait Timeout', '10s', 'After the first FIN.'),
    'tcp-close-wait-timeout': timeout('TCP Close Wait Timeout', '10s', 'After the FIN was acknowledged.'),
    'tcp-last-ack-timeout': timeout('TCP Last ACK Timeout', '10s', 'After both sides sent FIN.'),
    'tcp-time-wait-timeout': timeout('TCP Time Wait Timeout', '10s', 'After the last acknowledgement.'),
    'tcp-close-timeout': timeout('TCP Close Timeout', '10s', 'After a reset.'),
    'tcp-max-retrans-timeout': timeout(
      'TCP Max Retrans Timeout',
      '5m',
      'Once a segment was sent again more than three times.',
    ),
    'tcp-unacked-timeout': timeout(
      'TCP Unacked Timeout',
      '5m',
      'While data stays unacknowledged; also after a pick-up in mid-stream, until it is answered.',
    ),
    'loose-tcp-tracking': {
      kind: bool,
      label: 'Loose TCP Tracking',
      help: 'Track connections of which the first packets were missed.',
      tab: 'General',
      default: 'true',
      dataplane: true,
    },
    'liberal-tcp-tracking': {
      kind: bool,
      label: 'Liberal TCP Tracking',
      help: 'Treat only resets outside the window as invalid.',
      tab: 'General',
      default: 'false',
      dataplane: true,
    },
    'udp-timeout': timeout('UDP Timeout', '30s', 'While UDP packets passed in one direction only.'),
    'udp-stream-timeout': timeout('UDP Stream Timeout', '3m', 'Once UDP packets passed in both directions.'),
    'icmp-timeout': timeout('ICMP Timeout', '10s', 'ICMP queries.'),
    'generic-timeout': timeout('Generic Timeout', '10m', 'All other protocols.'),
    'active-ipv4': readOnly(bool, 'Active IPv4', 'IPv4 connections are tracked now.', 'Status'),
    'max-entries': total('Max Entries', 'Largest number of connections, of all workers together.'),
    'worker-max-entries': total(
      'Worker Max Entries',
      'Largest number of connections of one worker; each stays with its own.',
    ),
    'worker-entries': total('Worker Entries', 'Connections of the worker that has most.'),
    'total-entries': total('Total Entries', 'Connections now.'),
    'total-ip4-entries': total('Total IPv4 Entries', 'IPv4 connections now.'),
  },
  flags: [],
  columns: [],
  tabs: ['General', 'Timeouts', 'Status'],
  commands: ['set'],
  refreshMs: 1_000,
  window: { openedBy: { label: 'Tracking', menus: ['/ip/firewall/connection', '/ipv6/firewall/connection'] } },
  source: 'stored',
});
