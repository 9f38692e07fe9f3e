import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from '../../mixins/disabled.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool, present } from '../../props/bool.js';
import { tableName } from '../../props/table-name.js';
import { ROUTING_WINDOW } from '../../windows.js';

/** Routing tables beside the main table. */
export const routingTable = defineMenu({
  path: '/routing/table',
  title: 'Tables',
  singular: 'Routing Table',
  kind: 'list',
  tree: ['Routing', 'Tables'],
  help: 'Routing tables: routing rules and routing marks choose the table in which a packet is looked up.',
  props: {
    name: {
      kind: tableName,
      label: 'Name',
      help: 'Name of the table, unique; it is also the routing mark of packets that are looked up in it.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    fib: {
      kind: present,
      label: 'FIB',
      help: 'Packets are looked up in the table; without it, its routes only lead to gateways of others.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    ...dynamic(),
    ...invalid(),
    used: readOnly(
      bool,
      'Used',
      'Routes, rules or marks that are enabled name the table, or it is that of a VRF.',
      'Status',
    ),
  },
  flags: [dynamicFlag, disabledFlag, invalidFlag, { letter: 'U', prop: 'used', title: 'used' }],
  columns: ['name', 'fib', 'comment'],
  tabs: ['General', 'Status'],
  key: ['name'],
  commands: ['add', 'set', 'reset', 'remove', 'unset', 'enable', 'disable', 'comment'],
  window: { tabOf: ROUTING_WINDOW },
  source: 'union',
  builtin: [
    {
      id: 0x200_0400,
      values: { name: 'main', fib: 'true', dynamic: 'true', disabled: 'false', comment: 'the table of all packets' },
    },
  ],
});
