import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, dynamic } from '../../mixins/disabled.js';
import { hint } from '../../mixins/hint.js';
import { readOnly } from '../../mixins/read-only.js';
import { routeFlags, routeStates } from '../../mixins/route-states.js';
import { present } from '../../props/bool.js';
import { int } from '../../props/int.js';
import { ipv6Address, ipv6Network } from '../../props/ipv6-address.js';
import { ipv6Nexthop } from '../../props/ipv6-nexthop.js';
import { text } from '../../props/text.js';

/** Static routes of the user, connected routes of the addresses, and routes of other programs. */
export const ipv6Route = defineMenu({
  path: '/ipv6/route',
  title: 'IPv6 Route List',
  singular: 'IPv6 Route',
  kind: 'list',
  tree: ['IPv6', 'Routes'],
  help: 'IPv6 routes: static and connected ones.',
  props: {
    'dst-address': {
      kind: ipv6Network,
      label: 'Dst. Address',
      help: 'Destination network.',
      tab: 'General',
      default: '::/0',
      dataplane: true,
    },
    gateway: {
      kind: ipv6Nexthop,
      label: 'Gateway',
      help: 'Next router: its address, an interface, or address%interface, as link-local addresses need it.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    'immediate-gw': readOnly(text(), 'Immediate Gateway', 'Neighbour and interface that packets are sent to now.'),
    distance: {
      kind: int({ min: 1, max: 255 }),
      label: 'Distance',
      help: 'Preference among routes to the same destination; the lowest wins.',
      tab: 'General',
      default: '1',
      dataplane: true,
    },
    'pref-src': {
      kind: ipv6Address,
      label: 'Pref. Source',
      help: 'Source address of packets that the router itself sends by this route.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    blackhole: {
      kind: present,
      label: 'Blackhole',
      help: 'Drop packets to the destination silently; excludes a gateway.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    ...dynamic(),
    ...hint('Why the route is not used, or what the other properties do not say of it.', 'Status'),
    ...routeStates,
  },
  flags: routeFlags,
  columns: ['dst-address', 'gateway', 'distance', 'pref-src', 'immediate-gw', 'comment'],
  tabs: ['General', 'Status'],
  key: ['dst-address', 'gateway'],
  commands: ['add', 'set', 'reset', 'remove', 'unset', 'enable', 'disable', 'comment'],
  refreshMs: 1_000,
  source: 'union',
});
