import { defineMenu } from '../../define.js';
import { readOnly } from '../../mixins/read-only.js';
import { oneOf } from '../../props/enum.js';
import { text } from '../../props/text.js';

/** Kinds of findings about queues. A finding is shown to users as a hint. */
export const QUEUE_FINDINGS = [
  'limit-at-over-parent',
  'max-limit-over-parent',
  'max-limit-below-limit-at',
  'limit-at-without-parent',
  'priority-without-effect',
  'burst-without-effect',
  'mark-without-effect',
  'outside-parent',
  'shadowed',
  'both-match',
] as const;

/** Findings about queues: settings that have no effect, or not the expected one. */
export const queueLint = defineMenu({
  path: '/queue/lint',
  title: 'Queue Hints',
  singular: 'Queue Hint',
  kind: 'status-list',
  tree: ['Queues', 'Hints'],
  help: 'Settings of queues that have no effect, or not the expected one.',
  props: {
    menu: readOnly(oneOf(['/queue/simple', '/queue/tree']), 'Menu', 'Menu of the queue.'),
    'queue-id': readOnly(text(), 'Queue ID', 'Id of the queue.'),
    queue: readOnly(text(), 'Queue', 'Name of the queue.'),
    property: readOnly(text(), 'Property', 'Setting that the hint is about.'),
    finding: readOnly(oneOf(QUEUE_FINDINGS), 'Finding', 'What was found.'),
    message: readOnly(text({ sentence: true }), 'Message', 'What it means for the traffic, and what would change it.'),
  },
  flags: [],
  columns: ['queue', 'menu', 'message'],
  tabs: ['General'],
  key: ['queue', 'finding'],
  commands: [],
  refreshMs: 5_000,
  window: { openedBy: { label: 'Hints', menus: ['/queue/simple', '/queue/tree'] } },
  source: 'live',
});
