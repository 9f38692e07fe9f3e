import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, dynamic } from '../../mixins/disabled.js';
import { hint } from '../../mixins/hint.js';
import { ecmpState, routeTarget } from '../../mixins/route.js';
import { routeFlags, routeStates } from '../../mixins/route-states.js';
import { ip } from '../../props/ip.js';
import { ipPrefix } from '../../props/ip-prefix.js';

/** Static routes of the user, connected routes of the addresses, and routes of other programs. */
export const ipRoute = defineMenu({
  path: '/ip/route',
  title: 'Route List',
  singular: 'Route',
  kind: 'list',
  tree: ['IP', 'Routes'],
  help: 'IPv4 routes: static ones, connected ones, and those of routing programs.',
  props: {
    'dst-address': {
      kind: ipPrefix,
      label: 'Dst. Address',
      help: 'Destination network.',
      tab: 'General',
      default: '0.0.0.0/0',
      dataplane: true,
    },
    ...routeTarget('ip'),
    'pref-src': {
      kind: ip,
      label: 'Pref. Source',
      help: 'Source address of packets that the router itself sends by this route.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    ...dynamic(),
    ...hint('Why the route is not used, or what the other properties do not say of it.', 'Status'),
    ...routeStates,
    ...ecmpState,
  },
  flags: [...routeFlags, { letter: '+', prop: 'ecmp', title: 'ecmp' }],
  columns: ['dst-address', 'gateway', 'distance', 'pref-src', 'immediate-gw', 'comment'],
  tabs: ['General', 'Status'],
  key: ['dst-address', 'gateway'],
  commands: ['add', 'set', 'reset', 'remove', 'unset', 'enable', 'disable', 'comment'],
  refreshMs: 1_000,
  source: 'union',
});
