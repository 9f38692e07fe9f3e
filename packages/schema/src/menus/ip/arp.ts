import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from '../../mixins/disabled.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { oneOf } from '../../props/enum.js';
import { ip } from '../../props/ip.js';
import { mac } from '../../props/mac.js';
import { reference } from '../../props/reference.js';

/** Neighbours: learned ones and static entries. */
export const ipArp = defineMenu({
  path: '/ip/arp',
  title: 'ARP List',
  singular: 'ARP',
  kind: 'list',
  tree: ['IP', 'ARP'],
  help: 'Link-layer addresses of neighbours.',
  props: {
    address: {
      kind: ip,
      label: 'IP Address',
      help: 'Address of the neighbour.',
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
    interface: {
      kind: reference('/interface', 'name'),
      label: 'Interface',
      help: 'Interface that the neighbour is on.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
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
    status: readOnly(
      oneOf(['incomplete', 'reachable', 'stale', 'probe', 'failed', 'permanent']),
      'Status',
      'State of address resolution.',
    ),
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
  columns: ['address', 'mac-address', 'interface', 'status', 'comment'],
  tabs: ['General', 'Status'],
  key: ['address', 'interface'],
  commands: ['add', 'set', 'reset', 'remove', 'enable', 'disable', 'comment'],
  refreshMs: 1_000,
  dynamicRemovable: 'relearned',
  source: 'union',
});
