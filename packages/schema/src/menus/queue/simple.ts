import { defineMenu } from '../../define.js';
import type { Kind } from '../../kind.js';
import type { Prop } from '../../menu.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from '../../mixins/disabled.js';
import { nameOfQueue, packetMarks, queueHint, queueStatistics } from '../../mixins/queue.js';
import { decimal } from '../../props/decimal.js';
import { duration } from '../../props/duration.js';
import { int } from '../../props/int.js';
import { withNot } from '../../props/not.js';
import { upDown } from '../../props/pair.js';
import { queueTarget, queueTargetList } from '../../props/queue-target.js';
import { configuredRate } from '../../props/rate.js';
import { reference } from '../../props/reference.js';
import { weekdayTimes } from '../../props/weekday-times.js';
import { QUEUE_WINDOW } from '../../windows.js';

const bucketSize = decimal({ min: 0, max: 10, unit: 's' });
const priority = int({ min: 1, max: 8 });
const queueType = reference('/queue/type', 'name');

/** A setting with a value for each direction. */
const each = (kind: Kind, label: string, tab: string, value: string, help: string): Prop => ({
  kind: upDown(kind),
  label,
  help,
  tab,
  default: `${value}/${value}`,
  dataplane: true,
});

/** A setting for both directions together; no limit applies unless it is set. */
const total = (kind: Kind, label: string, help: string): Prop => ({
  kind,
  label: `Total ${label}`,
  help,
  tab: 'Total',
  unset: true,
  dataplane: true,
});

/** Rates for subscribers, by address or interface. */
export const simpleQueue = defineMenu({
  path: '/queue/simple',
  title: 'Simple Queues',
  singular: 'Simple Queue',
  kind: 'ordered',
  tree: ['Queues', 'Simple Queues'],
  help: 'Rate limits by address or interface; the first queue that matches a packet takes it.',
  props: {
    name: nameOfQueue,
    target: {
      kind: queueTargetList,
      label: 'Target',
      help: 'Addresses, prefixes and interfaces whose traffic the queue holds.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    dst: {
      kind: queueTarget,
      label: 'Dst.',
      help: 'Only traffic between the target and this address, prefix or interface.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    'max-limit': each(
      configuredRate,
      'Max Limit',
      'General',
      '0',
      'Highest rate from and to the target, IP bits; 0: none. With children, of what they take: other traffic of the target passes beside it.',
    ),
    'burst-limit': each(
      configuredRate,
      'Burst Limit',
      'General',
      '0',
      'Highest rate while a burst lasts; 0 means no bursts.',
    ),
    'burst-threshold': each(
      configuredRate,
      'Burst Threshold',
      'General',
      '0',
      'A burst may last while the average rate is below this.',
    ),
    'burst-time': each(duration(), 'Burst Time', 'General', '0s', 'Time over which the average rate is taken.'),
    time: {
      kind: withNot(weekdayTimes),
      label: 'Time',
      help: 'Time of day and days of the week when the queue works, by the clock of the router.',
      tab: 'General',
      unset: true,
      not: true,
      dataplane: true,
    },
    'packet-marks': {
      kind: packetMarks,
      label: 'Packet Marks',
      help: 'Only packets with one of these marks; no-mark for packets without.',
      tab: 'Advanced',
      default: '',
      dataplane: true,
    },
    'limit-at': each(
      configuredRate,
      'Limit At',
      'Advanced',
      '0',
      'Rate it gets in any case, out of that of its parent.',
    ),
    priority: each(
      priority,
      'Priority',
      'Advanced',
      '8',
      'Who of the children of a parent gets what is left first: 1, and last: 8.',
    ),
    'bucket-size': each(
      bucketSize,
      'Bucket Size',
      'Advanced',
      '0.1',
      'Depth of the token bucket: what max-limit brings in this many seconds.',
    ),
    queue: each(queueType, 'Queue Type', 'Advanced', 'default-small', 'How packets wait.'),
    parent: {
      kind: reference('/queue/simple', 'name', { keywords: ['none'] }),
      label: 'Parent',
      help: 'Queue whose rate it shares with its siblings; packets must match its target, too.',
      tab: 'Advanced',
      default: 'none',
      dataplane: true,
    },
    'total-limit-at': total(configuredRate, 'Limit At', 'Rate that both directions together get in any case.'),
    'total-max-limit': total(
      configuredRate,
      'Max Limit',
      'Highest rate of both directions together. What is dropped here has been counted as passed by its direction.',
    ),
    'total-burst-limit': total(configuredRate, 'Burst Limit', 'Highest rate of both together while a burst lasts.'),
    'total-burst-threshold': total(
      configuredRate,
      'Burst Threshold',
      'A burst may last while the average rate of both together is below this.',
    ),
    'total-burst-time': total(duration(), 'Burst Time', 'Time over which the average rate of both together is taken.'),
    'total-priority': total(priority, 'Priority', 'Priority of both directions together; 8 when it is not given.'),
    'total-bucket-size': total(bucketSize, 'Bucket Size', 'Depth of the common token bucket in seconds, else 0.1.'),
    'total-queue': total(queueType, 'Queue Type', 'How packets wait for both together; else default-small.'),
    ...queueStatistics({ of: upDown }),
    ...queueStatistics({ tab: 'Total Statistics', prefix: 'total-', label: 'Total ' }),
    ...disabled(),
    ...comment(),
    ...queueHint(),
    ...invalid('Statistics'),
    ...dynamic('Statistics'),
  },
  flags: [disabledFlag, invalidFlag, dynamicFlag],
  columns: [
    'name',
    'target',
    'max-limit.upload',
    'max-limit.download',
    'packet-marks',
    'total-max-limit',
    'rate.upload',
    'rate.download',
    'queued-bytes.upload',
    'queued-bytes.download',
    'dropped.upload',
    'dropped.download',
    'bytes.upload',
    'bytes.download',
  ],
  tabs: ['General', 'Advanced', 'Statistics', 'Total', 'Total Statistics'],
  key: ['name'],
  noun: 'queue',
  commands: [
    'add',
    'set',
    'reset',
    'remove',
    'unset',
    'enable',
    'disable',
    'comment',
    'move',
    'reset-counters',
    'reset-counters-all',
  ],
  refreshMs: 1_000,
  autoName: 'queue',
  window: { tabOf: QUEUE_WINDOW, size: [1080, 520], dialogSize: [830, 560] },
  source: 'stored',
});
