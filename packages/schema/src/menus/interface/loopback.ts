import { defineMenu } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag } from '../../mixins/disabled.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { interfaceName } from '../../props/text.js';
import { INTERFACE_WINDOW } from '../../windows.js';

/** Loopback interfaces: addresses of the router that do not depend on a link. */
export const loopback = defineMenu({
  path: '/interface/loopback',
  title: 'Loopback',
  singular: 'Interface',
  kind: 'list',
  tree: ['Interfaces', 'Loopback'],
  help: 'Interfaces without links, for addresses that the router keeps whatever its links do.',
  props: {
    name: {
      kind: interfaceName,
      label: 'Name',
      help: 'Name of the interface, unique; generated when it is left out.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    running: readOnly(bool, 'Running', 'The interface is enabled.', 'Status'),
  },
  flags: [disabledFlag, { letter: 'R', prop: 'running', title: 'running' }],
  columns: ['name', 'comment'],
  tabs: ['General', 'Status'],
  key: ['name'],
  autoName: 'loopback',
  commands: ['add', 'set', 'reset', 'remove', 'enable', 'disable', 'comment'],
  refreshMs: 1_000,
  interfaceType: 'loopback',
  window: { tabOf: INTERFACE_WINDOW },
  source: 'stored',
});
