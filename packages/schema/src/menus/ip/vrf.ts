import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag } from '../../mixins/disabled.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { referenceList } from '../../props/reference.js';
import { tableName } from '../../props/table-name.js';

/** VRFs: interfaces with a routing table and addresses of their own. */
export const ipVrf = defineMenu({
  path: '/ip/vrf',
  title: 'VRF List',
  singular: 'VRF',
  kind: 'ordered',
  tree: ['IP', 'VRF'],
  help: 'VRFs: groups of interfaces with addresses and a routing table of their own.',
  props: {
    name: {
      kind: tableName,
      label: 'Name',
      help: 'Name of the VRF and of its routing table, unique among both.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    interfaces: {
      kind: referenceList('/interface', 'name'),
      label: 'Interfaces',
      help: 'Interfaces in the VRF; each is in one VRF at most.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    builtin: readOnly(bool, 'Builtin', 'The VRF of all interfaces that are in no other; not changeable.', 'Status'),
  },
  flags: [disabledFlag, { letter: '*', prop: 'builtin', title: 'builtin' }],
  columns: ['name', 'interfaces', 'comment'],
  tabs: ['General', 'Status'],
  key: ['name'],
  noun: 'VRF',
  commands: ['add', 'set', 'reset', 'remove', 'move', 'enable', 'disable', 'comment'],
  source: 'stored',
  builtin: [
    {
      id: 0x200_0030,
      values: { name: 'main', interfaces: 'all', disabled: 'false', builtin: 'true' },
    },
  ],
});
