import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag } from '../../mixins/disabled.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { oneOf } from '../../props/enum.js';
import { ipv6Address } from '../../props/ipv6-address.js';
import { mac } from '../../props/mac.js';
import { reference } from '../../props/reference.js';

/** Neighbours of IPv6: learned ones and static entries. */
export const ipv6Neighbor = defineMenu({
  path: '/ipv6/neighbor',
  title: 'IPv6 Neighbor List',
  singular: 'IPv6 Neighbor',
  kind: 'list',
  tree: ['IPv6', 'Neighbors'],
  help: 'Link-layer addresses of IPv6 neighbours.',
  props: {
    address: {
      kind: ipv6Address,
      label: 'Address',
      help: 'Address of the neighbour.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    interface: {
      kind: reference('/interface', 'name'),
      label: 'Interface',
      help: 'Interface that the neighbour is on.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    'mac-address': {
      kind: mac,
      label: 'MAC Address',
      help: 'Link-layer address of the neighbour.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    status: readOnly(
      oneOf(['incomplete', 'reachable', 'stale', 'probe', 'failed', 'permanent']),
      'Status',
      'State of neighbour discovery.',
    ),
    ...dynamic(),
    router: readOnly(bool, 'Router', 'It has said that it is a router.', 'Status'),
  },
  flags: [disabledFlag, dynamicFlag, { letter: 'R', prop: 'router', title: 'router' }],
  columns: ['address', 'mac-address', 'interface', 'status', 'comment'],
  tabs: ['General', 'Status'],
  key: ['address', 'interface'],
  commands: ['add', 'set', 'reset', 'remove', 'enable', 'disable', 'comment'],
  refreshMs: 1_000,
  dynamicRemovable: 'relearned',
  source: 'union',
});
