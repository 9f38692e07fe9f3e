import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from '../../mixins/disabled.js';
import { hint } from '../../mixins/hint.js';
import { readOnly } from '../../mixins/read-only.js';
import { vrf } from '../../mixins/vrf.js';
import { bool } from '../../props/bool.js';
import { duration } from '../../props/duration.js';
import { ipv6, isLinkLocal } from '../../props/ipv6.js';
import { ipv6InterfacePrefix } from '../../props/ipv6-address.js';
import { reference } from '../../props/reference.js';
import { text } from '../../props/text.js';

/** Whether stations can make addresses of the network of `address/length` (RFC 4862 §5.5.3, RFC 2464 §4). */
export function isAdvertisable(prefix: string): boolean {
  const [address = '', length] = prefix.split('/');
  const value = ipv6(address);
  return value !== undefined && length === '64' && !isLinkLocal(value);
}

/** Time that is left of an address. */
const lifetime = duration({ keywords: ['forever'] });

/** IPv6 addresses of the router; each makes a connected route. */
export const ipv6AddressMenu = defineMenu({
  path: '/ipv6/address',
  title: 'IPv6 Address List',
  singular: 'IPv6 Address',
  kind: 'list',
  tree: ['IPv6', 'Addresses'],
  help: 'IPv6 addresses of the router. An interface with one has a link-local address too.',
  props: {
    address: {
      kind: ipv6InterfacePrefix,
      label: 'Address',
      help: 'Address of the router with the prefix length of its network, such as 2001:db8::1/64.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    interface: {
      kind: reference('/interface', 'name'),
      label: 'Interface',
      help: 'Interface that the network is connected to.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    'eui-64': {
      kind: bool,
      label: 'EUI64',
      help: 'Make the last 64 bits of the address from the MAC address of the interface.',
      tab: 'General',
      default: 'false',
      dataplane: true,
    },
    advertise: {
      kind: bool,
      label: 'Advertise',
      help: 'Tell hosts of the network by router advertisements, so that they make themselves addresses; networks of 64 bits only.',
      tab: 'General',
      // What is not to be advertised is not because it gets another number.
      derived: { from: [], value: ({ address = '' }) => String(isAdvertisable(address)) },
      dataplane: true,
    },
    'no-dad': {
      kind: bool,
      label: 'No DAD',
      help: 'Use the address at once, without looking for another station that has it.',
      tab: 'General',
      default: 'false',
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    'actual-interface': {
      kind: reference('/interface', 'name'),
      label: 'Actual Interface',
      help: 'Interface that carries the address.',
      tab: 'General',
      readOnly: true,
      derived: { from: ['interface'], value: (values) => values.interface },
    },
    ...vrf('VRF of the interface, in which the address is used.'),
    valid: readOnly(lifetime, 'Valid', 'Time until an address of an advertised network is removed.', 'Status'),
    preferred: readOnly(lifetime, 'Preferred', 'Time until no new connections are made from it.', 'Status'),
    ...invalid(),
    ...dynamic(),
    global: readOnly(bool, 'Global', 'Reachable from other links.', 'Status'),
    'link-local': readOnly(bool, 'Link Local', 'Only for neighbours on the same link.', 'Status'),
    deprecated: readOnly(bool, 'Deprecated', 'Not used for new connections: its preferred time is over.', 'Status'),
    ...hint('What the address is, or why it is not used.', 'Status'),
  },
  flags: [
    disabledFlag,
    invalidFlag,
    dynamicFlag,
    { letter: 'G', prop: 'global', title: 'global' },
    { letter: 'L', prop: 'link-local', title: 'link-local' },
    { letter: 'd', prop: 'deprecated', title: 'deprecated' },
  ],
  columns: ['address', 'interface', 'advertise', 'comment'],
  tabs: ['General', 'Status'],
  key: ['address', 'interface'],
  commands: ['add', 'set', 'reset', 'remove', 'enable', 'disable', 'comment'],
  constants: {
    'from-pool': { kind: text(), value: '' },
  },
  refreshMs: 1_000,
  source: 'union',
});
