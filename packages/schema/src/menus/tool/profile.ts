import { reading } from '../../commands.js';
import { defineMenu } from '../../define.js';
import { readOnly } from '../../mixins/read-only.js';
import { switchKind } from '../../props/bool.js';
import { duration } from '../../props/duration.js';
import { int } from '../../props/int.js';
import { percent } from '../../props/percent.js';
import { text } from '../../props/text.js';

const args = {
  cpu: {
    kind: int({ min: 0, max: 1_023, keywords: ['total', 'all'] }),
    label: 'CPU',
    help: 'One core by number, total for their average, or all for each.',
    tab: 'General',
    default: 'total',
  },
  duration: {
    kind: duration({ minMs: 1_000, maxMs: 60_000 }),
    label: 'Duration',
    help: 'How long to measure.',
    tab: 'General',
    default: '1s',
  },
} as const;

/** Processor time by task. */
export const toolProfile = defineMenu({
  path: '/tool/profile',
  title: 'Profile',
  singular: 'Profile',
  kind: 'command',
  tree: ['Tools', 'Profile'],
  help: 'Share of processor time by class of work: of the packet engine by cycle counters, of everything else together as other.',
  props: {
    ...args,
    name: readOnly(text(), 'Name', 'Class of work.'),
    usage: readOnly(percent, 'Usage', 'Share of processor time.'),
  },
  flags: [],
  columns: ['name', 'cpu', 'usage'],
  tabs: ['General'],
  commands: [],
  run: reading({
    name: 'profile',
    help: 'Measures for the time given, and returns the share of each class of work.',
    target: 'menu',
    args: { ...args, once: { kind: switchKind, help: 'One measurement, which a profile is in any case.' } },
    result: ['name', 'cpu', 'usage'],
  }),
  refreshMs: 1_000,
  window: { size: [620, 560] },
  source: 'live',
});
