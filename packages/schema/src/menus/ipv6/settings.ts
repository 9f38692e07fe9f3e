import { defineMenu } from '../../define.js';
import { fastPathCounters } from '../../mixins/fast-path-counters.js';
import { multipathHashPolicy } from '../../mixins/route.js';
import { bool } from '../../props/bool.js';
import { oneOf } from '../../props/enum.js';
import { int } from '../../props/int.js';
import { reference } from '../../props/reference.js';

/** When the router does as a host does. */
const acceptance = oneOf(['no', 'yes-if-forwarding-disabled', 'yes']);

/** IPv6 behaviour of the router as a whole. */
export const ipv6Settings = defineMenu({
  path: '/ipv6/settings',
  title: 'IPv6 Settings',
  singular: 'IPv6 Settings',
  kind: 'settings',
  tree: ['IPv6', 'Settings'],
  help: 'IPv6 settings of the router, and counters of the fast path.',
  props: {
    'disable-ipv6': {
      kind: bool,
      label: 'Disable IPv6',
      help: 'No interface has IPv6, whatever its addresses.',
      tab: 'General',
      default: 'false',
      dataplane: true,
    },
    forward: {
      kind: bool,
      label: 'Forward',
      help: 'Forward packets between interfaces. Without it the router advertises nothing.',
      tab: 'General',
      default: 'true',
      dataplane: true,
    },
    'multipath-hash-policy': multipathHashPolicy,
    'accept-redirects': {
      kind: acceptance,
      label: 'Accept Redirects',
      help: 'Follow redirects with what the router itself sends, for 5 minutes each.',
      tab: 'General',
      default: 'yes-if-forwarding-disabled',
      dataplane: true,
    },
    'accept-router-advertisements': {
      kind: acceptance,
      label: 'Accept Router Advertisements',
      help: 'Learn default routes and networks from other routers, and make addresses of the networks (SLAAC).',
      tab: 'General',
      default: 'yes-if-forwarding-disabled',
      dataplane: true,
    },
    'accept-router-advertisements-on': {
      kind: reference('/interface/list', 'name'),
      label: 'Accept Router Advertisements On',
      help: 'Interface list in which router advertisements are accepted; interfaces in a VRF never do.',
      tab: 'General',
      default: 'all',
      dataplane: true,
    },
    'disable-link-local-address': {
      kind: bool,
      label: 'Disable Link Local Address',
      help: 'Interfaces get no link-local address beside their own; without one they advertise nothing.',
      tab: 'General',
      default: 'false',
      dataplane: true,
    },
    'stale-neighbor-detect-interval': {
      kind: int({ min: 1, max: 86_400, unit: 's' }),
      label: 'Stale Neighbor Detect Interval',
      help: 'Time after which a neighbour that is kept longer is looked at again.',
      tab: 'General',
      default: '30',
      dataplane: true,
    },
    'stale-neighbor-timeout': {
      kind: int({ min: 1, max: 86_400, unit: 's' }),
      label: 'Stale Neighbor Timeout',
      help: 'Time for which a neighbour is kept that is not confirmed and not used.',
      tab: 'General',
      default: '60',
      dataplane: true,
    },
    'min-neighbor-entries': {
      kind: int({ min: 0, max: 1_048_576 }),
      label: 'Min Neighbor Entries',
      help: 'Up to this number of neighbours none is forgotten, however old.',
      tab: 'General',
      default: '2048',
      dataplane: true,
    },
    'soft-max-neighbor-entries': {
      kind: int({ min: 1, max: 1_048_576 }),
      label: 'Soft Max Neighbor Entries',
      help: 'Above this number of neighbours unconfirmed ones go within seconds, as others come.',
      tab: 'General',
      default: '4096',
      dataplane: true,
    },
    'max-neighbor-entries': {
      kind: int({ min: 16, max: 1_048_576 }),
      label: 'Max Neighbor Entries',
      help: 'Largest number of IPv6 neighbours.',
      tab: 'General',
      default: '8192',
      dataplane: true,
    },
    'allow-fast-path': {
      kind: bool,
      label: 'Allow Fast Path',
      help: 'Let known flows of IPv6 skip stages that cannot change the outcome.',
      tab: 'General',
      default: 'true',
      dataplane: true,
    },
    ...fastPathCounters('ipv6'),
  },
  flags: [],
  columns: [],
  tabs: ['General', 'Status'],
  commands: ['set'],
  refreshMs: 1_000,
  source: 'stored',
});
