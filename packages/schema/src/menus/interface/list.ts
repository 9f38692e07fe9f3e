import { defineMenu } from '../../define.js';
import type { BuiltinItem } from '../../menu.js';
import { comment } from '../../mixins/comment.js';
import { dynamic, dynamicFlag } from '../../mixins/disabled.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { referenceList } from '../../props/reference.js';
import { name } from '../../props/text.js';

const builtin = (id: number, list: string, note: string): BuiltinItem => ({
  id,
  values: { name: list, include: '', exclude: '', builtin: 'true', dynamic: 'false', comment: note },
});

/** Named sets of interfaces for firewall rules. */
export const interfaceList = defineMenu({
  path: '/interface/list',
  title: 'Interface Lists',
  singular: 'Interface List',
  kind: 'list',
  tree: ['Interfaces', 'Lists'],
  help: 'Named lists of interfaces that firewall rules can refer to.',
  props: {
    name: {
      kind: name(),
      label: 'Name',
      help: 'Name of the list, unique.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    include: {
      kind: referenceList('/interface/list', 'name'),
      label: 'Include',
      help: 'Lists whose members belong to this list too.',
      tab: 'General',
      default: '',
      dataplane: true,
    },
    exclude: {
      kind: referenceList('/interface/list', 'name'),
      label: 'Exclude',
      help: 'Lists whose members are left out; its own members stay.',
      tab: 'General',
      default: '',
      dataplane: true,
    },
    ...comment(),
    builtin: readOnly(bool, 'Builtin', 'Always present and not changeable.', 'Status'),
    ...dynamic(),
  },
  flags: [{ letter: '*', prop: 'builtin', title: 'builtin' }, dynamicFlag],
  columns: ['name', 'include', 'exclude', 'comment'],
  tabs: ['General', 'Status'],
  key: ['name'],
  commands: ['add', 'set', 'reset', 'remove', 'comment'],
  window: { openedBy: { label: 'Lists', menus: ['/interface/list/member'] } },
  source: 'stored',
  builtin: [
    builtin(0x200_0000, 'all', 'every interface'),
    builtin(0x200_0001, 'none', 'no interface'),
    builtin(0x200_0010, 'dynamic', 'interfaces that the system made'),
    builtin(0x200_0011, 'static', 'interfaces of the configuration'),
  ],
});
