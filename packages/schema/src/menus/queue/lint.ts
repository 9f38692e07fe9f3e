import { defineMenu } from '../../define.js';
import { oneOf } from '../../props/enum.js';
import { text } from '../../props/text.js';

/** Kinds of findings of the lint. */
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

/** Settings of queues that have no effect, or another one than they seem to have. */
export const queueLint = defineMenu({
  path: '/queue/lint',
  title: 'Queue Hints',
  singular: 'Queue Hint',
  kind: 'status-list',
  tree: ['Queues', 'Hints'],
  help: 'Settings of queues that have no effect, or another one than they seem to have.',
  props: {
    menu: {
      kind: oneOf(['/queue/simple', '/queue/tree']),
      label: 'Menu',
      help: 'Menu of the queue.',
      tab: 'General',
      readOnly: true,
    },
    'queue-id': { kind: text(), label: 'Queue ID', help: 'Id of the queue.', tab: 'General', readOnly: true },
    queue: { kind: text(), label: 'Queue', help: 'Name of the queue.', tab: 'General', readOnly: true },
    property: {
      kind: text(),
      label: 'Property',
      help: 'Setting that the hint is about.',
      tab: 'General',
      readOnly: true,
    },
    finding: {
      kind: oneOf(QUEUE_FINDINGS),
      label: 'Finding',
      help: 'What was found.',
      tab: 'General',
      readOnly: true,
    },
    message: {
      kind: text({ sentence: true }),
      label: 'Message',
      help: 'What it means for the traffic, and what would change it.',
      tab: 'General',
      readOnly: true,
    },
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
