import { queuePart, queueRecord } from '@tollway/dataplane-agent/records';
import type { Queues } from './messages.js';

const layout = queueRecord;
/** Size of a record, bytes. */
export const RECORD = layout.size;

/** Part of a queue that a record counts. */
export const PART = queuePart;

export type Part = (typeof PART)[keyof typeof PART];

type Reader = (view: DataView, at: number) => bigint;

const u64 =
  (offset: number): Reader =>
  (view, at) =>
    view.getBigUint64(at + offset, true);

const u32 =
  (offset: number): Reader =>
  (view, at) =>
    BigInt(view.getUint32(at + offset, true));

/** A field of a record, and how the values of several workers are combined. */
interface Field {
  readonly read: Reader;
  readonly combine: (a: bigint, b: bigint) => bigint;
}

const add = (a: bigint, b: bigint): bigint => a + b;
const longest = (a: bigint, b: bigint): bigint => (a > b ? a : b);

const fields: Readonly<Record<string, Field>> = {
  bytes: { read: u64(layout.bytes), combine: add },
  packets: { read: u64(layout.packets), combine: add },
  dropped: { read: u64(layout.dropped), combine: add },
  rate: { read: u64(layout.rate), combine: add },
  'packet-rate': { read: u64(layout.packetRate), combine: add },
  'queued-bytes': { read: u64(layout.queuedBytes), combine: add },
  'queued-packets': { read: u32(layout.queuedPackets), combine: add },
  'pcq-queues': { read: u32(layout.subQueues), combine: add },
  borrows: { read: u64(layout.borrows), combine: add },
  lends: { read: u64(layout.lends), combine: add },
  marked: { read: u64(layout.marked), combine: add },
  'max-wait': { read: u32(layout.longestWait), combine: longest },
  'avg-wait': { read: u32(layout.averageWait), combine: longest },
  'out-of-order': { read: u64(layout.outOfOrder), combine: add },
};

/** A snapshot of the counters of all queues. Records are decoded on access. */
export class QueueDump {
  readonly #view: DataView;
  /** Index of the last record of each row. */
  readonly #last = new Map<number, number>();
  /** Index of the previous record of the same row, for each record; −1 for none. */
  readonly #before: Int32Array;

  constructor({ records }: Pick<Queues, 'records'>) {
    this.#view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    const count = Math.floor(records.byteLength / RECORD);
    this.#before = new Int32Array(count);
    for (let number = 0; number < count; number += 1) {
      const row = this.#view.getUint32(number * RECORD + layout.row, true);
      this.#before[number] = this.#last.get(row) ?? -1;
      this.#last.set(row, number);
    }
  }

  /** Whether there is a record of a part. */
  has(row: number, part: Part): boolean {
    for (let number = this.#last.get(row) ?? -1; number >= 0; number = this.#before[number] ?? -1) {
      if (this.#view.getUint8(number * RECORD + layout.part) === part) return true;
    }
    return false;
  }

  /**
   * Value of a part over all workers; 0 for a queue without records, e.g. a disabled one. `undefined` for a property that
   * queues do not have.
   */
  value(row: number, part: Part, property: string): bigint | undefined {
    const field = Object.hasOwn(fields, property) ? fields[property] : undefined;
    if (field === undefined) return undefined;
    let sum = 0n;
    for (let number = this.#last.get(row) ?? -1; number >= 0; number = this.#before[number] ?? -1) {
      const at = number * RECORD;
      if (this.#view.getUint8(at + layout.part) === part) sum = field.combine(sum, field.read(this.#view, at));
    }
    return sum;
  }

  /** Value of both directions of a simple queue: of its total if it has one, else their sum. */
  total(row: number, property: string): bigint | undefined {
    if (this.has(row, PART.total)) return this.value(row, PART.total, property);
    const field = Object.hasOwn(fields, property) ? fields[property] : undefined;
    const upload = this.value(row, PART.upload, property);
    const download = this.value(row, PART.download, property);
    return field === undefined || upload === undefined || download === undefined
      ? undefined
      : field.combine(upload, download);
  }
}
