import type { Kind } from '../kind.js';
import type { Prop } from '../menu.js';
import { bytes } from '../props/bytes.js';
import { counter } from '../props/counter.js';
import { int } from '../props/int.js';
import { rate } from '../props/rate.js';
import { nameList, queueName } from '../props/text.js';
import { hint } from './hint.js';

/** Word for packets and connections without a mark. */
export const NO_MARK = 'no-mark';

/** Comma list of packet marks, and of `no-mark`. */
export const packetMarks: Kind = nameList({
  values: [NO_MARK],
  ref: [{ menu: '/ip/firewall/mangle', prop: 'new-packet-mark' }],
});

/** Name of a queue of either menu. */
export const nameOfQueue: Prop = {
  kind: queueName,
  label: 'Name',
  help: 'Name of the queue, unique; generated when it is left out.',
  tab: 'General',
  unset: true,
  dataplane: true,
};

/** Integers that are not counters. */
const count = int({ min: 0, max: Number.MAX_SAFE_INTEGER });

interface Statistic {
  readonly kind: Kind;
  readonly label: string;
  readonly help: string;
  readonly pinned?: true;
}

/** Counters of a queue, by the name of the property. */
const STATISTICS: Readonly<Record<string, Statistic>> = {
  rate: { kind: rate, label: 'Rate', help: 'Bits per second that passed, of IP packets.' },
  'packet-rate': { kind: counter('p/s'), label: 'Packet Rate (p/s)', help: 'Packets per second that passed.' },
  'queued-bytes': { kind: bytes, label: 'Queued Bytes', help: 'Bytes that wait now.' },
  'queued-packets': { kind: counter('packets'), label: 'Queued Packets', help: 'Packets that wait now.' },
  bytes: { kind: bytes, label: 'Bytes', help: 'IP bytes that passed.', pinned: true },
  packets: { kind: counter('packets'), label: 'Packets', help: 'Packets that passed.', pinned: true },
  dropped: { kind: counter('packets'), label: 'Dropped', help: 'Packets that were dropped instead of waiting.' },
  'pcq-queues': {
    kind: count,
    label: 'PCQ Queues',
    help: 'Sub-queues in use, of PCQ, SFQ, FQ-CoDel and CAKE.',
  },
  borrows: { kind: counter('packets'), label: 'Borrows', help: 'Packets that passed by tokens of a parent.' },
  lends: {
    kind: counter('packets'),
    label: 'Lends',
    help: 'Packets that passed by tokens of this queue, its own and those of its children.',
  },
  marked: { kind: counter('packets'), label: 'Marked', help: 'Packets marked with congestion (ECN).' },
  'out-of-order': {
    kind: counter('packets'),
    label: 'Out Of Order',
    help: 'TCP segments (data, SYN, FIN) that came with a sequence number below the highest one sent before: overtaken, or sent again.',
  },
  'max-wait': {
    kind: int({ min: 0, max: 0xffff_ffff, unit: 'µs' }),
    label: 'Longest Wait',
    help: 'Longest time that a packet waited, in the last full second, µs.',
  },
  'avg-wait': {
    kind: int({ min: 0, max: 0xffff_ffff, unit: 'µs' }),
    label: 'Average Wait',
    help: 'Average time that packets waited, of those that did in the last full second, µs.',
  },
};

/** Names of all statistics of queues. */
export const QUEUE_STATISTICS: readonly string[] = Object.keys(STATISTICS);

/** Read-only properties for the statistics of a queue. */
export function queueStatistics({
  tab = 'Statistics',
  prefix = '',
  label = '',
  of = (kind) => kind,
  names = QUEUE_STATISTICS,
  passing = 'that passed',
}: {
  readonly tab?: string;
  /** Prefix of the name of each property. */
  readonly prefix?: string;
  /** Prefix of the label of each property. */
  readonly label?: string;
  /** Makes the kind of each property from the kind of one number, e.g. a pair of such numbers. */
  readonly of?: (kind: Kind) => Kind;
  readonly names?: readonly string[];
  /** Description of the counted packets, instead of "that passed". */
  readonly passing?: string;
} = {}): Readonly<Record<string, Prop>> {
  return Object.fromEntries(
    Object.entries(STATISTICS)
      .filter(([name]) => names.includes(name))
      .map(([name, statistic]): [string, Prop] => [
        `${prefix}${name}`,
        {
          kind: of(statistic.kind),
          label: `${label}${statistic.label}`,
          help: statistic.help.replace('that passed', passing),
          tab,
          readOnly: true,
          ...(prefix === '' && statistic.pinned !== undefined && { pinned: statistic.pinned }),
        },
      ]),
  );
}

/** Hint of a queue: its findings as one text. */
export const queueHint = (tab = 'Statistics'): { readonly hint: Prop } =>
  hint('Settings of the queue that have no effect, or not the expected one.', tab);
