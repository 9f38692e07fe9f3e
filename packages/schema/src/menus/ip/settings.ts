import { defineMenu } from '../../define.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { bytes } from '../../props/bytes.js';
import { counter } from '../../props/counter.js';
import { duration } from '../../props/duration.js';
import { oneOf, oneOfWithYesNo } from '../../props/enum.js';
import { int } from '../../props/int.js';
import { IP_SETTINGS_WINDOW } from '../../windows.js';

/** IPv4 behaviour of the router as a whole. */
export const ipSettings = defineMenu({
  path: '/ip/settings',
  title: 'IP Settings',
  singular: 'IP Settings',
  kind: 'settings',
  tree: ['IP', 'Settings'],
  help: 'IPv4 settings of the router, and counters of the fast path.',
  props: {
    'ip-forward': {
      kind: bool,
      label: 'IP Forward',
      help: 'Forward packets between interfaces.',
      tab: 'General',
      default: 'true',
      dataplane: true,
    },
    'allow-fast-path': {
      kind: bool,
      label: 'Allow Fast Path',
      help: 'Let known flows skip stages that cannot change the outcome.',
      tab: 'General',
      default: 'true',
      dataplane: true,
    },
    'fasttrack-mode': {
      kind: oneOf(['cached', 'bypass']),
      label: 'Fasttrack Mode',
      help: 'Whether rules and queues hold for fasttracked connections (cached) or are skipped by them (bypass).',
      tab: 'General',
      default: 'cached',
      dataplane: true,
    },
    'flow-offload': {
      kind: bool,
      label: 'Flow Offload',
      help: 'Let the kernel forward known flows between ports by packet socket; TCP windows of these are not checked.',
      tab: 'General',
      default: 'false',
      dataplane: true,
    },
    'rp-filter': {
      kind: oneOfWithYesNo(['no', 'strict', 'loose']),
      label: 'RP Filter',
      help: 'Drop packets whose source has no route back (loose) or none by the same interface (strict).',
      tab: 'General',
      default: 'no',
      dataplane: true,
    },
    'max-neighbor-entries': {
      kind: int({ min: 16, max: 1_048_576 }),
      label: 'Max Neighbor Entries',
      help: 'Largest size of the neighbour table.',
      tab: 'General',
      default: '8192',
      dataplane: true,
    },
    'arp-timeout': {
      kind: duration({ minMs: 1_000 }),
      label: 'ARP Timeout',
      help: 'How long a resolved neighbour counts as reachable.',
      tab: 'General',
      default: '30s',
      dataplane: true,
    },
    'icmp-rate-limit': {
      kind: int({ min: 0, max: 3_600_000, unit: 'ms' }),
      label: 'ICMP Rate Limit',
      help: 'Least time in ms between ICMP errors to one target, those about the MTU exempt; to all at most 1,000 a second. 0: no limit.',
      tab: 'General',
      default: '10',
      dataplane: true,
    },
    'ipv4-fast-path-active': readOnly(
      bool,
      'IPv4 Fast Path Active',
      'Untracked flows may take the fast path.',
      'Status',
    ),
    'ipv4-fast-path-packets': readOnly(
      counter('packets'),
      'IPv4 Fast Path Packets',
      'Packets of untracked flows that the fast path forwarded.',
      'Status',
    ),
    'ipv4-fast-path-bytes': readOnly(bytes, 'IPv4 Fast Path Bytes', 'IP bytes of these packets.', 'Status'),
    'ipv4-flow-cache-active': readOnly(
      bool,
      'IPv4 Flow Cache Active',
      'Tracked connections may take the fast path with what rules decided of their first packets.',
      'Status',
    ),
    'ipv4-flow-cache-packets': readOnly(
      counter('packets'),
      'IPv4 Flow Cache Packets',
      'Packets of tracked connections, fasttracked ones left out, that the fast path forwarded.',
      'Status',
    ),
    'ipv4-flow-cache-bytes': readOnly(bytes, 'IPv4 Flow Cache Bytes', 'IP bytes of these packets.', 'Status'),
    'ipv4-fasttrack-active': readOnly(
      bool,
      'IPv4 Fasttrack Active',
      'A fasttrack rule exists or a fasttracked connection lives.',
      'Status',
    ),
    'ipv4-fasttrack-packets': readOnly(
      counter('packets'),
      'IPv4 Fasttrack Packets',
      'Packets of fasttracked connections forwarded by the fast path.',
      'Status',
    ),
    'ipv4-fasttrack-bytes': readOnly(bytes, 'IPv4 Fasttrack Bytes', 'IP bytes of these packets.', 'Status'),
  },
  flags: [],
  columns: [],
  tabs: ['General', 'Status'],
  commands: ['set'],
  refreshMs: 1_000,
  window: { tabOf: IP_SETTINGS_WINDOW, size: [960, 540] },
  source: 'stored',
});
