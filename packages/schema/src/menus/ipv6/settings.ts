import { defineMenu } from '../../define.js';
import { multipathHashPolicy } from '../../mixins/route.js';
import { bool } from '../../props/bool.js';
import { int } from '../../props/int.js';

/** IPv6 behaviour of the router as a whole. */
export const ipv6Settings = defineMenu({
  path: '/ipv6/settings',
  title: 'IPv6 Settings',
  singular: 'IPv6 Settings',
  kind: 'settings',
  tree: ['IPv6', 'Settings'],
  help: 'IPv6 settings of the router.',
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
    'disable-link-local-address': {
      kind: bool,
      label: 'Disable Link Local Address',
      help: 'Interfaces get no link-local address beside their own; without one they advertise nothing.',
      tab: 'General',
      default: 'false',
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
  },
  flags: [],
  columns: [],
  tabs: ['General'],
  commands: ['set'],
  constants: {
    'stale-neighbor-timeout': { kind: int({ min: 0, max: 4_294_967_295 }), value: '60' },
  },
  source: 'stored',
});
