import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag } from '../../mixins/disabled.js';
import { hint } from '../../mixins/hint.js';
import { readOnly } from '../../mixins/read-only.js';
import { anyNetwork } from '../../props/any-network.js';
import { bool } from '../../props/bool.js';
import { oneOf } from '../../props/enum.js';
import { int } from '../../props/int.js';
import { reference } from '../../props/reference.js';
import { tableReference } from '../../props/table-name.js';
import { ROUTING_WINDOW } from '../../windows.js';

/** Actions that look a packet up in a table. */
export const LOOKUP_ACTIONS = ['lookup', 'lookup-only-in-table'] as const;

/** Rules that choose the table in which a packet is looked up. */
export const routingRule = defineMenu({
  path: '/routing/rule',
  title: 'Rules',
  singular: 'Routing Rule',
  kind: 'ordered',
  tree: ['Routing', 'Rules'],
  help: 'Rules of both families, from top to bottom; then the table of the routing mark, then main.',
  props: {
    'src-address': {
      kind: anyNetwork,
      label: 'Src. Address',
      help: 'Network of the source before its translation; a rule without addresses is for both families.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    'dst-address': {
      kind: anyNetwork,
      label: 'Dst. Address',
      help: 'Network of the destination after its translation.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    'routing-mark': {
      kind: tableReference(),
      label: 'Routing Mark',
      help: 'Mark that a mangle rule gave the packet; main for packets without.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    interface: {
      kind: reference('/interface', 'name'),
      label: 'Interface',
      help: 'Interface the packet came in on; packets of the router itself came in on none.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    action: {
      kind: oneOf([...LOOKUP_ACTIONS, 'drop', 'unreachable']),
      label: 'Action',
      help: 'Look the packet up in the table, go on without a route there or not, or refuse the packet.',
      tab: 'General',
      default: 'lookup',
      dataplane: true,
    },
    table: {
      kind: tableReference(),
      label: 'Table',
      help: 'Table in which the packet is looked up.',
      tab: 'General',
      unset: true,
      when: { prop: 'action', values: LOOKUP_ACTIONS },
      dataplane: true,
    },
    'min-prefix': {
      kind: int({ min: 0, max: 127 }),
      label: 'Min. Prefix',
      help: 'Routes with a prefix of this length or shorter are passed over; 0 passes over default routes.',
      tab: 'General',
      unset: true,
      when: { prop: 'action', values: LOOKUP_ACTIONS },
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    inactive: readOnly(bool, 'Inactive', 'Not in use: disabled, or it cannot work.', 'Status'),
    ...hint('Why the rule is not in use.', 'Status'),
  },
  flags: [disabledFlag, { letter: 'I', prop: 'inactive', title: 'inactive' }],
  columns: ['src-address', 'dst-address', 'routing-mark', 'interface', 'action', 'table', 'min-prefix', 'comment'],
  tabs: ['General', 'Status'],
  commands: ['add', 'set', 'reset', 'remove', 'unset', 'move', 'enable', 'disable', 'comment'],
  window: { tabOf: ROUTING_WINDOW },
  source: 'stored',
});
