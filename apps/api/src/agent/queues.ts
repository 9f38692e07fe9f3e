import type { Queues } from './messages.js';

/** Size of a record, bytes; the layout is documented at `ReplyBody::Queues` in crates/config/src/protocol/mod.rs. */
const RECORD = 120;
const UPLOAD = 8;
const DOWNLOAD = 64;

type Reader = (view: DataView, at: number) => bigint;

const u64 =
  (offset: number): Reader =>
  (view, at) =>
    view.getBigUint64(at + offset, true);

const u32 =
  (offset: number): Reader =>
  (view, at) =>
    BigInt(view.getUint32(at + offset, true));

/** Properties of `/queue/simple` by their place in each direction's part. */
const readers: Readonly<Record<string, Reader>> = {
  bytes: u64(0),
  packets: u64(8),
  dropped: u64(16),
  rate: u64(24),
  'packet-rate': u64(32),
  'queued-bytes': u64(40),
  'queued-packets': u32(48),
};

/** One snapshot of all simple queues. Nothing is decoded until it is asked for. */
export class QueueDump {
  static readonly properties: readonly string[] = Object.keys(readers);
  readonly #view: DataView;
  /** Where the records of a row begin: one of each worker that saw packets of the queue. */
  readonly #records = new Map<number, readonly number[]>();

  constructor({ records }: Pick<Queues, 'records'>) {
    this.#view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    for (let at = 0; at + RECORD <= records.byteLength; at += RECORD) {
      const row = this.#view.getUint32(at, true);
      const before = this.#records.get(row);
      this.#records.set(row, before === undefined ? [at] : [...before, at]);
    }
  }

  /** `upload/download` of a row's queue; zeros for one that the data plane does not have, e.g. a disabled one. */
  value(row: number, property: string): string | undefined {
    const read = Object.hasOwn(readers, property) ? readers[property] : undefined;
    if (read === undefined) return undefined;
    const records = this.#records.get(row) ?? [];
    const sum = (direction: number) => records.reduce((sum, at) => sum + read(this.#view, at + direction), 0n);
    return `${sum(UPLOAD)}/${sum(DOWNLOAD)}`;
  }
}
