import type { Queues } from './messages.js';

/** Size of a record, bytes; the layout is documented at `ReplyBody::Queues` in protocol.rs. */
const RECORD = 120;
const UPLOAD = 8;
const DOWNLOAD = 64;

type Reader = (view: DataView, at: number) => string;

const u64 =
  (offset: number): Reader =>
  (view, at) =>
    view.getBigUint64(at + offset, true).toString();

const u32 =
  (offset: number): Reader =>
  (view, at) =>
    view.getUint32(at + offset, true).toString();

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
  readonly #at = new Map<number, number>();

  constructor({ records }: Pick<Queues, 'records'>) {
    this.#view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    for (let at = 0; at + RECORD <= records.byteLength; at += RECORD) this.#at.set(this.#view.getUint32(at, true), at);
  }

  /** `upload/download` of a row's queue; zeros for one that the data plane does not have, e.g. a disabled one. */
  value(row: number, property: string): string | undefined {
    const read = Object.hasOwn(readers, property) ? readers[property] : undefined;
    if (read === undefined) return undefined;
    const at = this.#at.get(row);
    return at === undefined ? '0/0' : `${read(this.#view, at + UPLOAD)}/${read(this.#view, at + DOWNLOAD)}`;
  }
}
