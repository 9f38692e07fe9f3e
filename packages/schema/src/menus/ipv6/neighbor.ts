import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag } from '../../mixins/disabled.js';
import { neighborList, neighborProps } from '../../mixins/neighbor.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { ipv6Address } from '../../props/ipv6-address.js';

const { status, ...neighbor } = neighborProps({ kind: ipv6Address, label: 'Address' }, 'neighbour discovery');

/** Neighbours of IPv6. */
export const ipv6Neighbor = defineMenu({
  path: '/ipv6/neighbor',
  title: 'IPv6 Neighbor List',
  singular: 'IPv6 Neighbor',
  tree: ['IPv6', 'Neighbors'],
  help: 'Link-layer addresses of IPv6 neighbours.',
  ...neighborList,
  props: {
    ...neighbor,
    ...disabled(),
    ...comment(),
    status,
    ...dynamic(),
    router: readOnly(bool, 'Router', 'It has said that it is a router.', 'Status'),
  },
  flags: [disabledFlag, dynamicFlag, { letter: 'R', prop: 'router', title: 'router' }],
});
