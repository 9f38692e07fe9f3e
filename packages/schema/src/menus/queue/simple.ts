import { type Constant, defineMenu, type Kind, type Prop } from '../../define.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from '../../mixins/disabled.js';
import { bytes } from '../../props/bytes.js';
import { counter } from '../../props/counter.js';
import { duration } from '../../props/duration.js';
import { oneOf } from '../../props/enum.js';
import { int } from '../../props/int.js';
import { upDown } from '../../props/pair.js';
import { ipPrefixList } from '../../props/prefix-list.js';
import { configuredRate, rate } from '../../props/rate.js';
import { reference } from '../../props/reference.js';
import { name, text } from '../../props/text.js';

const statistic = (kind: Kind, label: string, help: string): Prop => ({
  kind: upDown(kind),
  label,
  help,
  tab: 'Statistics',
  readOnly: true,
});

/** What is not given in RouterOS either. */
const unset: Constant = { kind: text({ max: 0 }), value: '' };

/** Rates for subscribers, by address. */
export const simpleQueue = defineMenu({
  path: '/queue/simple',
  title: 'Simple Queues',
  singular: 'Simple Queue',
  kind: 'ordered',
  tree: ['Queues', 'Simple Queues'],
  help: 'Rate limits by address; the first queue that a packet fits takes it.',
  props: {
    name: {
      kind: name(),
      label: 'Name',
      help: 'Name of the queue, unique; made up when it is left out.',
      tab: 'General',
      unset: true,
    },
    target: {
      kind: ipPrefixList,
      label: 'Target',
      help: 'Addresses and prefixes whose traffic the queue holds.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    'max-limit': {
      kind: upDown(configuredRate),
      label: 'Max Limit',
      help: 'Highest rate from the target and to it, in IP bits; 0 means no limit.',
      tab: 'General',
      default: '0/0',
      dataplane: true,
    },
    queue: {
      kind: upDown(reference('/queue/type', 'name')),
      label: 'Queue Type',
      help: 'How packets wait.',
      tab: 'Advanced',
      default: 'default-small/default-small',
      dataplane: true,
    },
    rate: statistic(rate, 'Rate', 'Bits per second that passed, of IP packets.'),
    'packet-rate': statistic(
      int({ min: 0, max: Number.MAX_SAFE_INTEGER }),
      'Packet Rate',
      'Packets per second that passed.',
    ),
    'queued-bytes': statistic(bytes, 'Queued Bytes', 'Bytes that wait now.'),
    'queued-packets': statistic(counter('packets'), 'Queued Packets', 'Packets that wait now.'),
    bytes: statistic(bytes, 'Bytes', 'IP bytes that passed.'),
    packets: statistic(counter('packets'), 'Packets', 'Packets that passed.'),
    dropped: statistic(counter('packets'), 'Dropped', 'Packets that found the queue full.'),
    ...disabled(),
    ...comment(),
    ...invalid('Statistics'),
    ...dynamic('Statistics'),
  },
  flags: [disabledFlag, invalidFlag, dynamicFlag],
  columns: [
    'name',
    'target',
    'max-limit.upload',
    'max-limit.download',
    'rate.upload',
    'rate.download',
    'queued-bytes.upload',
    'queued-bytes.download',
    'dropped.upload',
    'dropped.download',
    'bytes.upload',
    'bytes.download',
  ],
  tabs: ['General', 'Advanced', 'Statistics'],
  key: ['name'],
  commands: ['add', 'set', 'remove', 'enable', 'disable', 'comment', 'move', 'reset-counters', 'reset-counters-all'],
  refreshMs: 1_000,
  stored: true,
  constants: {
    parent: { kind: oneOf(['none']), value: 'none' },
    dst: unset,
    'packet-marks': unset,
    time: unset,
    priority: { kind: upDown(int({ min: 1, max: 8 })), value: '8/8' },
    'limit-at': { kind: upDown(rate), value: '0/0' },
    'burst-limit': { kind: upDown(rate), value: '0/0' },
    'burst-threshold': { kind: upDown(rate), value: '0/0' },
    'burst-time': { kind: upDown(duration()), value: '0s/0s' },
    'bucket-size': { kind: upDown(oneOf(['0.1'])), value: '0.1/0.1' },
    'total-queue': { kind: oneOf(['default-small']), value: 'default-small' },
    'total-priority': { kind: int({ min: 1, max: 8 }), value: '8' },
    'total-limit-at': { kind: rate, value: '0' },
    'total-max-limit': { kind: rate, value: '0' },
    'total-burst-limit': { kind: rate, value: '0' },
    'total-burst-threshold': { kind: rate, value: '0' },
    'total-burst-time': { kind: duration(), value: '0s' },
    'total-bucket-size': { kind: oneOf(['0.1']), value: '0.1' },
  },
});
