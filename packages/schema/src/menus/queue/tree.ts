import { defineMenu } from '../../define.js';
import type { Kind } from '../../kind.js';
import type { Prop } from '../../menu.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, invalid, invalidFlag } from '../../mixins/disabled.js';
import { nameOfQueue, packetMarks, queueHint, queueStatistics } from '../../mixins/queue.js';
import { decimal } from '../../props/decimal.js';
import { duration } from '../../props/duration.js';
import { int } from '../../props/int.js';
import { configuredRate } from '../../props/rate.js';
import { reference, referenceToOneOf } from '../../props/reference.js';
import { QUEUE_WINDOW } from '../../windows.js';

const setting = (kind: Kind, label: string, value: string, help: string): Prop => ({
  kind,
  label,
  help,
  tab: 'General',
  default: value,
  dataplane: true,
});

/** Rates by packet mark. */
export const queueTree = defineMenu({
  path: '/queue/tree',
  title: 'Queue Tree',
  singular: 'Queue',
  kind: 'list',
  tree: ['Queues', 'Queue Tree'],
  help: 'Rate limits by packet mark, of all packets or of those that leave by an interface.',
  props: {
    name: nameOfQueue,
    parent: {
      kind: referenceToOneOf(
        [
          { menu: '/queue/tree', prop: 'name' },
          { menu: '/interface', prop: 'name' },
        ],
        { keywords: ['global'] },
      ),
      label: 'Parent',
      help: 'Parent: global for all packets, an interface for those that leave by it, or a queue of this tree.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    'packet-mark': setting(
      packetMarks,
      'Packet Marks',
      '',
      'Packets with one of these marks; empty for those that no other queue of the tree takes.',
    ),
    queue: setting(reference('/queue/type', 'name'), 'Queue Type', 'default-small', 'How packets wait.'),
    priority: setting(
      int({ min: 1, max: 8 }),
      'Priority',
      '8',
      'Who of the children of a parent gets what is left first: 1, and last: 8.',
    ),
    'bucket-size': setting(
      decimal({ min: 0, max: 10, unit: 's' }),
      'Bucket Size',
      '0.1',
      'Depth of the token bucket: what max-limit brings in this many seconds.',
    ),
    'limit-at': setting(configuredRate, 'Limit At', '0', 'Rate it gets in any case, out of that of its parent.'),
    'max-limit': setting(
      configuredRate,
      'Max Limit',
      '0',
      'Highest rate, in IP bits; 0 means no limit. A queue with children limits what they take.',
    ),
    'burst-limit': setting(configuredRate, 'Burst Limit', '0', 'Highest rate while a burst lasts; 0 means no bursts.'),
    'burst-threshold': setting(
      configuredRate,
      'Burst Threshold',
      '0',
      'A burst may last while the average rate is below this.',
    ),
    'burst-time': setting(duration(), 'Burst Time', '0s', 'Time over which the average rate is taken.'),
    ...queueStatistics(),
    ...disabled(),
    ...comment(),
    ...queueHint(),
    ...invalid('Statistics'),
    ...dynamic('Statistics'),
  },
  flags: [disabledFlag, invalidFlag],
  columns: [
    'name',
    'parent',
    'packet-mark',
    'limit-at',
    'max-limit',
    'rate',
    'queued-bytes',
    'dropped',
    'bytes',
    'packets',
  ],
  tabs: ['General', 'Statistics'],
  key: ['name'],
  commands: ['add', 'set', 'reset', 'remove', 'enable', 'disable', 'comment', 'reset-counters', 'reset-counters-all'],
  refreshMs: 1_000,
  autoName: 'queue',
  window: { tabOf: QUEUE_WINDOW, dialogSize: [780, 560] },
  source: 'stored',
});
