import { defineMenu } from '../../../define.js';
import { comment } from '../../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag } from '../../../mixins/disabled.js';
import { reference } from '../../../props/reference.js';
import { INTERFACE_WINDOW } from '../../../windows.js';

/** Members of interface lists. */
export const interfaceListMember = defineMenu({
  path: '/interface/list/member',
  title: 'Interface List Members',
  singular: 'Interface List Member',
  kind: 'list',
  tree: ['Interfaces', 'Interface List'],
  help: 'Members of the interface lists.',
  props: {
    list: {
      kind: reference('/interface/list', 'name'),
      label: 'List',
      help: 'List that the interface belongs to.',
      tab: 'General',
      required: true,
      quickFilter: { all: 'all lists', op: 'is' },
      dataplane: true,
    },
    interface: {
      kind: reference('/interface', 'name'),
      label: 'Interface',
      help: 'Member of the list.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    ...dynamic(),
  },
  flags: [disabledFlag, dynamicFlag],
  columns: ['list', 'interface', 'comment'],
  tabs: ['General', 'Status'],
  key: ['list', 'interface'],
  commands: ['add', 'set', 'reset', 'remove', 'enable', 'disable', 'comment'],
  window: { tabOf: INTERFACE_WINDOW },
  source: 'stored',
});
