import { defineMenu } from '../../define.js';
import type { Kind } from '../../kind.js';
import type { BuiltinItem, Prop } from '../../menu.js';
import { defaultFlag, defaultItem } from '../../mixins/default-item.js';
import { bool } from '../../props/bool.js';
import { bytes } from '../../props/bytes.js';
import { duration } from '../../props/duration.js';
import { oneOf } from '../../props/enum.js';
import { fineDuration } from '../../props/fine-duration.js';
import { int } from '../../props/int.js';
import { kibibytes } from '../../props/kibibytes.js';
import { configuredRate } from '../../props/rate.js';
import { setOf } from '../../props/set.js';
import { nameInPair } from '../../props/text.js';
import { QUEUE_WINDOW } from '../../windows.js';
import { cakeSettings } from './type/cake.js';

const KINDS = ['bfifo', 'pfifo', 'red', 'sfq', 'pcq', 'mq-pfifo', 'none', 'codel', 'fq-codel', 'cake'] as const;

/** A setting of one kind of queue. */
const of = (kind: (typeof KINDS)[number], value: Kind, label: string, standard: string, help: string): Prop => ({
  kind: value,
  label,
  help,
  tab: 'Settings',
  default: standard,
  when: { prop: 'kind', values: [kind] },
  dataplane: true,
});

/** A setting of one kind of queue that can be unset. */
const optional = (prop: Prop): Prop => ({ ...prop, unset: true });

const packets = int({ min: 1, max: 0xffff_ffff, unit: 'packets' });
const octets = int({ min: 1, max: 0xffff_ffff, unit: 'bytes' });
const delay = fineDuration({ minUs: 1 });
const mask4 = int({ min: 0, max: 32 });
const mask6 = int({ min: 0, max: 128 });

const fifoSettings: Readonly<Record<string, Prop>> = {
  'bfifo-limit': of('bfifo', bytes, 'Queue Size', '15000', 'Bytes that may wait; what does not fit is dropped.'),
  'pfifo-limit': of('pfifo', packets, 'Queue Size', '50', 'Packets that may wait; the next one is dropped.'),
  'mq-pfifo-limit': of('mq-pfifo', packets, 'Queue Size', '50', 'Packets that may wait in each queue of the port.'),
};

const redSettings: Readonly<Record<string, Prop>> = {
  'red-limit': of('red', packets, 'Queue Size', '60', 'Packets that may wait.'),
  'red-min-threshold': of('red', packets, 'Min Threshold', '10', 'Average from which packets are dropped at random.'),
  'red-max-threshold': of('red', packets, 'Max Threshold', '50', 'Average from which all packets are dropped.'),
  'red-burst': of('red', packets, 'Burst', '20', 'Packets of a burst that the average forgives.'),
  'red-avg-packet': of('red', octets, 'Avg. Packet', '1000', 'Length of a packet by which idle time is counted.'),
};

const sfqSettings: Readonly<Record<string, Prop>> = {
  'sfq-perturb': of(
    'sfq',
    int({ min: 0, max: 0xffff_ffff, unit: 's' }),
    'Perturb',
    '5',
    'Seconds after which the hash changes; 0 means never.',
  ),
  'sfq-allot': of('sfq', octets, 'Allot', '1514', 'Bytes that a sub-queue sends per turn.'),
};

const pcqSettings: Readonly<Record<string, Prop>> = {
  'pcq-rate': of('pcq', configuredRate, 'Rate', '0', 'Highest rate of a sub-queue; 0 shares what there is equally.'),
  'pcq-limit': of('pcq', kibibytes, 'Queue Size', '50', 'Amount that may wait in a sub-queue, in KiB.'),
  'pcq-total-limit': of(
    'pcq',
    kibibytes,
    'Total Queue Size',
    '2000',
    'Amount that may wait in all sub-queues, in KiB.',
  ),
  'pcq-classifier': optional(
    of(
      'pcq',
      setOf(['src-address', 'dst-address', 'src-port', 'dst-port'], { empty: true }),
      'Classifier',
      '',
      'Fields by which packets are assigned to sub-queues; without any there is one.',
    ),
  ),
  'pcq-burst-rate': of('pcq', configuredRate, 'Burst Rate', '0', 'Highest rate of a sub-queue while a burst lasts.'),
  'pcq-burst-threshold': of(
    'pcq',
    configuredRate,
    'Burst Threshold',
    '0',
    'A burst may last while the average rate of the sub-queue is below this.',
  ),
  'pcq-burst-time': of('pcq', duration(), 'Burst Time', '10s', 'Time over which the average rate is taken.'),
  'pcq-src-address-mask': of('pcq', mask4, 'Src. Address Mask', '32', 'Leading bits of an IPv4 source that count.'),
  'pcq-dst-address-mask': of(
    'pcq',
    mask4,
    'Dst. Address Mask',
    '32',
    'Leading bits of an IPv4 destination that count.',
  ),
  'pcq-src-address6-mask': of('pcq', mask6, 'Src. Address6 Mask', '128', 'Leading bits of an IPv6 source that count.'),
  'pcq-dst-address6-mask': of(
    'pcq',
    mask6,
    'Dst. Address6 Mask',
    '128',
    'Leading bits of an IPv6 destination that count.',
  ),
};

/** Settings of CoDel (controlled delay), which two kinds have. */
const codelSettings = (kind: 'codel' | 'fq-codel', limit: string, ecn: string): Readonly<Record<string, Prop>> => {
  const marking = of(kind, bool, 'ECN', ecn, 'Mark packets that can be marked instead of dropping them.');
  return {
    [`${kind}-limit`]: of(kind, packets, 'Limit', limit, 'Packets that may wait.'),
    [`${kind}-target`]: of(kind, delay, 'Target', '5ms', 'Delay that is acceptable.'),
    [`${kind}-interval`]: of(kind, delay, 'Interval', '100ms', 'Time in which the delay must come below the target.'),
    [`${kind}-ecn`]: kind === 'codel' ? optional(marking) : marking,
    [`${kind}-ce-threshold`]: {
      kind: delay,
      label: 'CE Threshold',
      help: 'Mark every packet that has waited longer.',
      tab: 'Settings',
      unset: true,
      when: { prop: 'kind', values: [kind] },
      dataplane: true,
    },
  };
};

const fqSettings: Readonly<Record<string, Prop>> = {
  'fq-codel-flows': of(
    'fq-codel',
    int({ min: 1, max: 65_536 }),
    'Flows',
    '1024',
    'Buckets that flows are hashed into.',
  ),
  'fq-codel-quantum': of('fq-codel', octets, 'Quantum', '1514', 'Bytes that a flow sends per turn.'),
  'fq-codel-memlimit': of('fq-codel', bytes, 'Memory Limit', '33554432', 'Memory that what waits may take.'),
};

const builtin = (
  id: number,
  name: string,
  kind: string,
  values: Readonly<Record<string, string>> = {},
): BuiltinItem => ({
  id: 0x200_0100 + id,
  values: { name, kind, ...values, default: 'true' },
});

const pcq = (classifier: string): Readonly<Record<string, string>> => ({ 'pcq-classifier': classifier });

/** Queue types: kinds of queues with their settings. */
export const queueType = defineMenu({
  path: '/queue/type',
  title: 'Queue Types',
  singular: 'Queue Type',
  kind: 'list',
  tree: ['Queues', 'Queue Types'],
  help: 'Kinds of queues with their parameters.',
  props: {
    name: {
      kind: nameInPair,
      label: 'Type Name',
      help: 'Name of the type, unique, without slashes.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    kind: {
      kind: oneOf(KINDS),
      label: 'Kind',
      help: 'Scheduling and drop algorithm of the queue.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    ...fifoSettings,
    ...redSettings,
    ...sfqSettings,
    ...pcqSettings,
    ...codelSettings('codel', '1000', 'false'),
    ...codelSettings('fq-codel', '10240', 'true'),
    ...fqSettings,
    ...cakeSettings,
    ...defaultItem(),
  },
  flags: [defaultFlag],
  columns: ['name', 'kind'],
  tabs: ['General', 'Settings'],
  key: ['name'],
  commands: ['add', 'set', 'reset', 'remove'],
  window: { tabOf: QUEUE_WINDOW },
  source: 'stored',
  builtinSettable: true,
  builtin: [
    builtin(0, 'default', 'pfifo', { 'pfifo-limit': '50' }),
    builtin(1, 'ethernet-default', 'pfifo', { 'pfifo-limit': '50' }),
    builtin(3, 'wireless-default', 'sfq', { 'sfq-perturb': '5', 'sfq-allot': '1514' }),
    builtin(4, 'synchronous-default', 'red', {
      'red-limit': '60',
      'red-min-threshold': '10',
      'red-max-threshold': '50',
      'red-burst': '20',
      'red-avg-packet': '1000',
    }),
    builtin(5, 'hotspot-default', 'sfq', { 'sfq-perturb': '5', 'sfq-allot': '1514' }),
    builtin(6, 'pcq-upload-default', 'pcq', pcq('src-address')),
    builtin(7, 'pcq-download-default', 'pcq', pcq('dst-address')),
    builtin(8, 'only-hardware-queue', 'none'),
    builtin(9, 'multi-queue-ethernet-default', 'mq-pfifo', { 'mq-pfifo-limit': '50' }),
    builtin(2, 'default-small', 'pfifo', { 'pfifo-limit': '10' }),
  ],
});
