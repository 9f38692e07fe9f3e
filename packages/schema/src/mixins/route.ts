import type { MenuDeclaration, Prop } from '../menu.js';
import type { AddressFamily } from '../props/address-family.js';
import { bool, present } from '../props/bool.js';
import { oneOf } from '../props/enum.js';
import { int } from '../props/int.js';
import { ip } from '../props/ip.js';
import { ipPrefix } from '../props/ip-prefix.js';
import { ipv6Address, ipv6Network } from '../props/ipv6-address.js';
import { nexthopList } from '../props/nexthop.js';
import { tableReference } from '../props/table-name.js';
import { text } from '../props/text.js';
import { comment } from './comment.js';
import { disabled, dynamic } from './disabled.js';
import { hint } from './hint.js';
import { readOnly } from './read-only.js';
import { routeFlags, routeStates, slaac } from './route-states.js';

const discards = (label: string, help: string): Prop => ({
  kind: present,
  label,
  help,
  tab: 'General',
  unset: true,
  dataplane: true,
});

/** Where a route leads, and how it is preferred to others. */
const routeTarget = (family: AddressFamily): Readonly<Record<string, Prop>> => ({
  gateway: {
    kind: nexthopList(family),
    label: 'Gateway',
    help: 'Next routers: addresses, interfaces or address%interface, with commas, and @table of another table.',
    tab: 'General',
    unset: true,
    dataplane: true,
  },
  'immediate-gw': readOnly(text(), 'Immediate Gateway', 'Neighbours and interfaces that packets are sent to now.'),
  'check-gateway': {
    kind: oneOf(['none', 'arp', 'ping']),
    label: 'Check Gateway',
    help: 'Probe the gateways every 10 s; one that has not answered twice is not used until it answers again.',
    tab: 'General',
    unset: true,
    dataplane: true,
  },
  distance: {
    kind: int({ min: 1, max: 255 }),
    label: 'Distance',
    help: 'Preference among routes to the same destination; the lowest wins, and equal ones share the flows.',
    tab: 'General',
    default: '1',
    dataplane: true,
  },
  scope: {
    kind: int({ min: 0, max: 255 }),
    label: 'Scope',
    help: 'Routes with a target scope of at least this may find their gateways by this route.',
    tab: 'General',
    default: '30',
    dataplane: true,
  },
  'target-scope': {
    kind: int({ min: 0, max: 255 }),
    label: 'Target Scope',
    help: 'Largest scope of routes that may lead to the gateways; 10 is that of connected networks.',
    tab: 'General',
    default: '10',
    dataplane: true,
  },
  blackhole: discards('Blackhole', 'Drop packets to the destination silently; excludes a gateway.'),
  unreachable: discards('Unreachable', 'Answer packets to the destination with host unreachable; excludes a gateway.'),
  prohibit: discards(
    'Prohibit',
    'Answer packets to the destination with administratively prohibited; excludes a gateway.',
  ),
});

/** What the menus of routes of both families have: static routes, connected ones, and those of other programs. */
export const routeMenu = (
  family: AddressFamily,
): Pick<
  MenuDeclaration,
  'kind' | 'props' | 'flags' | 'columns' | 'tabs' | 'key' | 'commands' | 'refreshMs' | 'source'
> => ({
  kind: 'list',
  props: {
    'dst-address': {
      kind: family === 'ip' ? ipPrefix : ipv6Network,
      label: 'Dst. Address',
      help: 'Destination network.',
      tab: 'General',
      default: family === 'ip' ? '0.0.0.0/0' : '::/0',
      dataplane: true,
    },
    'routing-table': {
      kind: tableReference(),
      label: 'Routing Table',
      help: 'Table that the route is in.',
      tab: 'General',
      default: 'main',
      dataplane: true,
    },
    ...routeTarget(family),
    'pref-src': {
      kind: family === 'ip' ? ip : ipv6Address,
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
    ...(family === 'ipv6' && slaac),
    ecmp: readOnly(bool, 'ECMP', 'One of several next hops between which flows are divided.', 'Status'),
  },
  flags: [
    ...routeFlags,
    ...(family === 'ipv6' ? [{ letter: 'g', prop: 'slaac', title: 'slaac' }] : []),
    { letter: '+', prop: 'ecmp', title: 'ecmp' },
  ],
  columns: ['dst-address', 'gateway', 'distance', 'routing-table', 'pref-src', 'immediate-gw', 'comment'],
  tabs: ['General', 'Status'],
  key: ['dst-address', 'gateway'],
  commands: ['add', 'set', 'reset', 'remove', 'unset', 'enable', 'disable', 'comment'],
  refreshMs: 1_000,
  source: 'union',
});

/** What a flow is for routes with several gateways, in the settings of both families. */
export const multipathHashPolicy: Prop = {
  kind: oneOf(['l3', 'l4', 'l3-inner']),
  label: 'Multipath Hash Policy',
  help: 'Flows that several gateways share: by addresses (l3), also by protocol and ports (l4), by those inside tunnels (l3-inner).',
  tab: 'General',
  default: 'l3',
  dataplane: true,
};
