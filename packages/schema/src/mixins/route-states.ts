import type { Flag, Prop } from '../menu.js';
import { bool } from '../props/bool.js';
import { disabledFlag, dynamicFlag } from './disabled.js';

const state = (label: string, help: string): Prop => ({ kind: bool, label, help, tab: 'Status', readOnly: true });

/** States of routes, and where they come from. */
export const routeStates: Readonly<Record<string, Prop>> = {
  inactive: state('Inactive', 'Not used now: no gateway can be reached or a better route exists.'),
  active: state('Active', 'Used now.'),
  connect: state('Connect', 'Follows from an address of the router.'),
  static: state('Static', 'Configured by a user.'),
  rip: state('RIP', 'Learned from RIP.'),
  bgp: state('BGP', 'Learned from BGP.'),
  ospf: state('OSPF', 'Learned from OSPF.'),
  'is-is': state('IS-IS', 'Learned from IS-IS.'),
};

/** What routes of IPv6 may come from beside that. */
export const slaac: Readonly<Record<'slaac', Prop>> = {
  slaac: state('SLAAC', 'Follows from router advertisements.'),
};

/** Their flags. */
export const routeFlags: readonly Flag[] = [
  dynamicFlag,
  disabledFlag,
  { letter: 'I', prop: 'inactive', title: 'inactive' },
  { letter: 'A', prop: 'active', title: 'active' },
  { letter: 'c', prop: 'connect', title: 'connect' },
  { letter: 's', prop: 'static', title: 'static' },
  { letter: 'r', prop: 'rip', title: 'rip' },
  { letter: 'b', prop: 'bgp', title: 'bgp' },
  { letter: 'o', prop: 'ospf', title: 'ospf' },
  { letter: 'i', prop: 'is-is', title: 'is-is' },
];
