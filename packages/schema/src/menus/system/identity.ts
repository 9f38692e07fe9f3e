import { defineMenu } from '../../define.js';
import { text } from '../../props/text.js';

/** Name of the router. */
export const systemIdentity = defineMenu({
  path: '/system/identity',
  title: 'Identity',
  singular: 'Identity',
  kind: 'settings',
  tree: ['System', 'Identity'],
  help: 'Name that the router shows in titles, tabs and to other devices.',
  props: {
    name: {
      kind: text({ min: 1, max: 64, oneLine: true }),
      label: 'Identity',
      help: 'Name of the router.',
      tab: 'General',
      default: 'Tollway',
    },
  },
  flags: [],
  columns: [],
  tabs: ['General'],
  commands: ['set', 'reset'],
  window: { size: [520, 200] },
  source: 'stored',
});
