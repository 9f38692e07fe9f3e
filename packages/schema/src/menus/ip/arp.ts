import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from '../../mixins/disabled.js';
import { neighborList, neighborProps } from '../../mixins/neighbor.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { ip } from '../../props/ip.js';

const { status, ...neighbor } = neighborProps({ kind: ip, label: 'IP Address' }, 'address resolution');

/** Neighbours of IPv4. */
export const ipArp = defineMenu({
  path: '/ip/arp',
  title: 'ARP List',
  singular: 'ARP',
  tree: ['IP', 'ARP'],
  help: 'Link-layer addresses of neighbours.',
  ...neighborList,
  props: {
    ...neighbor,
    published: {
      kind: bool,
      label: 'Published',
      help: 'Answer ARP requests for this address.',
      tab: 'General',
      default: 'false',
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    status,
    ...invalid(),
    ...dynamic(),
    complete: readOnly(bool, 'Complete', 'The link-layer address is known.', 'Status'),
  },
  flags: [
    disabledFlag,
    invalidFlag,
    dynamicFlag,
    { letter: 'P', prop: 'published', title: 'published' },
    { letter: 'C', prop: 'complete', title: 'complete' },
  ],
});
