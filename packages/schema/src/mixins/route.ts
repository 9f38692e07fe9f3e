import type { Prop } from '../menu.js';
import { bool, present } from '../props/bool.js';
import { oneOf } from '../props/enum.js';
import { int } from '../props/int.js';
import { nexthopList, type RouteFamily } from '../props/nexthop.js';
import { text } from '../props/text.js';
import { readOnly } from './read-only.js';

const discards = (label: string, help: string): Prop => ({
  kind: present,
  label,
  help,
  tab: 'General',
  unset: true,
  dataplane: true,
});

/** Where a route leads, and how it is preferred to others. */
export const routeTarget = (family: RouteFamily): Readonly<Record<string, Prop>> => ({
  gateway: {
    kind: nexthopList(family),
    label: 'Gateway',
    help: 'Next routers: addresses, interfaces or address%interface, with commas; flows are divided between them.',
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

/** Whether a route is one of several that share the flows to its destination. */
export const ecmpState: Readonly<Record<string, Prop>> = {
  ecmp: readOnly(bool, 'ECMP', 'One of several next hops between which flows are divided.', 'Status'),
};
