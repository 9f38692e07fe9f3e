import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from '../../mixins/disabled.js';
import { hint } from '../../mixins/hint.js';
import { vrf } from '../../mixins/vrf.js';
import { ip, ipv4Network } from '../../props/ip.js';
import { ipIfacePrefix } from '../../props/ip-prefix.js';
import { reference } from '../../props/reference.js';

/** Addresses of the router itself; each makes a connected route. */
export const ipAddress = defineMenu({
  path: '/ip/address',
  title: 'Address List',
  singular: 'Address',
  kind: 'list',
  tree: ['IP', 'Addresses'],
  help: 'IPv4 addresses of the router.',
  props: {
    address: {
      kind: ipIfacePrefix,
      label: 'Address',
      help: 'Address of the router with the prefix length of its network, such as 192.168.88.1/24.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    network: {
      kind: ip,
      label: 'Network',
      help: 'Address of the connected network; without one it follows from the address. With /32 it is the other end.',
      tab: 'General',
      unset: true,
      derived: { from: ['address'], value: ({ address = '' }) => ipv4Network(address) },
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
    ...invalid(),
    ...dynamic(),
    ...hint('What of the address may not be meant.', 'Status'),
  },
  flags: [disabledFlag, invalidFlag, dynamicFlag],
  columns: ['address', 'network', 'interface', 'comment'],
  tabs: ['General', 'Status'],
  key: ['address', 'interface'],
  commands: ['add', 'set', 'reset', 'remove', 'unset', 'enable', 'disable', 'comment'],
  source: 'stored',
});
