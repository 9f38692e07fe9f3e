import { connectionFlag, connectionRecord, tcpState } from '@tollway/dataplane-agent/records';
import { type AddressFamily, durationText, IP_PROTOCOL, ipv6Text, protocolText } from '@tollway/schema';
import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { Connections } from './messages.js';

/** A local constant: without native module binding, hot loops would look up the import at each access. */
const field = connectionRecord;
/** Values of the field `family`. */
const FAMILIES: Readonly<Record<AddressFamily, number>> = { ip: 4, ipv6: 6 };
/** Size of a record, bytes. */
export const RECORD = field.size;

/** Records that are processed between two checks of the time slice. */
const CHECK_EVERY = 1_024;

const tcpStates = new Map<number, string>(Object.entries(tcpState).map(([name, code]) => [code, name]));

const ICMP = IP_PROTOCOL.icmp;
const ICMPV6 = 58;
const TCP = IP_PROTOCOL.tcp;
const UDP = IP_PROTOCOL.udp;

type Reader = (dump: ConnectionDump, at: number) => string | undefined;

/** The connection table at one time. */
export class ConnectionSnapshot {
  readonly nowNs: number;
  readonly count: number;
  readonly view: DataView;
  #index: IdIndex | undefined;
  readonly #families = new Map<AddressFamily, Promise<Uint32Array>>();

  constructor(reply: Connections) {
    const { buffer, byteOffset, byteLength } = reply.records;
    this.nowNs = Number(reply['now-ns']);
    this.count = Math.floor(byteLength / RECORD);
    this.view = new DataView(buffer, byteOffset, byteLength);
  }

  /** Builds the index by id in slices: for a million connections it takes too long at once. */
  async prepare(slicer: TimeSlicer): Promise<void> {
    this.#index ??= new IdIndex(this.view, this.count);
    while (!this.#index.add(CHECK_EVERY)) if (slicer.over) await slicer.pause();
  }

  /** Indices of the connections of a family, ascending; found once, in slices. */
  indicesOf(family: AddressFamily, slicer: TimeSlicer): Promise<Uint32Array> {
    const known = this.#families.get(family);
    if (known !== undefined) return known;
    const found = this.#find(family, slicer);
    this.#families.set(family, found);
    return found;
  }

  async #find(family: AddressFamily, slicer: TimeSlicer): Promise<Uint32Array> {
    const indices = new Uint32Array(this.count);
    let count = 0;
    for (let index = 0; index < this.count; index += 1) {
      if (index % CHECK_EVERY === 0 && slicer.over) await slicer.pause();
      if (this.isOf(index, family)) {
        indices[count] = index;
        count += 1;
      }
    }
    return indices.subarray(0, count);
  }

  isOf(index: number, family: AddressFamily): boolean {
    return this.view.getUint8(index * RECORD + field.family) === FAMILIES[family];
  }

  /** Index of the record of a connection; the id in two halves. */
  find(low: number, high: number): number | undefined {
    this.#index ??= new IdIndex(this.view, this.count);
    this.#index.add(this.count);
    return this.#index.find(low, high);
  }
}

/** A snapshot of the connection table, with rates since an earlier one. Records are decoded on access. */
export class ConnectionDump {
  readonly count: number;
  readonly snapshot: ConnectionSnapshot;
  readonly #view: DataView;
  readonly #bytes: Uint8Array;
  readonly #slowReasons: readonly string[];
  readonly #previous: ConnectionSnapshot | undefined;

  /**
   * @param previous an earlier snapshot, the base of the rates.
   * @param slowReasons names of the reasons that records number from 1.
   */
  constructor(reply: Connections, previous: ConnectionSnapshot | undefined, slowReasons: readonly string[] = []) {
    this.snapshot = new ConnectionSnapshot(reply);
    this.count = this.snapshot.count;
    this.#view = this.snapshot.view;
    this.#bytes = reply.records;
    this.#slowReasons = slowReasons;
    this.#previous = previous;
  }

  /** Whether there is an earlier snapshot. */
  get hasRates(): boolean {
    return this.#previous !== undefined;
  }

  /** Builds the index of {@link indexOf} in slices. */
  prepareIds(slicer: TimeSlicer): Promise<void> {
    return this.snapshot.prepare(slicer);
  }

  /** Builds the index of the earlier snapshot in slices. */
  async prepareRates(slicer: TimeSlicer): Promise<void> {
    await this.#previous?.prepare(slicer);
  }

  id(index: number): bigint {
    return this.#view.getBigUint64(index * RECORD + field.id, true);
  }

  isOf(index: number, family: AddressFamily): boolean {
    return this.snapshot.isOf(index, family);
  }

  indexOf(id: bigint): number | undefined {
    return this.snapshot.find(Number(id & 0xffff_ffffn), Number(id >> 32n));
  }

  /** Text of a property, as REST sends it; `undefined` when the connection has no such property. */
  value(index: number, property: string): string | undefined {
    if (property === '.id') return `*${this.id(index).toString(16).toUpperCase()}`;
    return Object.hasOwn(readers, property) ? readers[property]?.(this, index * RECORD) : undefined;
  }

  /** Sort keys of a property, where there are numeric ones: sorting by them decodes no texts. */
  sortNumbers(property: string): ((index: number) => number) | undefined {
    const read = Object.hasOwn(numberReaders, property) ? numberReaders[property] : undefined;
    return read && ((index) => read(this, index * RECORD));
  }

  row(index: number): Record<string, string> {
    const row: Record<string, string> = { '.id': this.value(index, '.id') ?? '' };
    for (const [property, read] of Object.entries(readers)) {
      const value = read(this, index * RECORD);
      if (value !== undefined) row[property] = value;
    }
    return row;
  }

  slowReason(at: number): string | undefined {
    return this.#slowReasons[this.u8(at + field.slowReason) - 1];
  }

  u8(at: number): number {
    return this.#view.getUint8(at);
  }

  u16(at: number): number {
    return this.#view.getUint16(at, true);
  }

  u32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  u64(at: number): bigint {
    return this.#view.getBigUint64(at, true);
  }

  address(at: number): string {
    if (this.u8(at - (at % RECORD) + field.family) === 4) return this.#bytes.subarray(at + 12, at + 16).join('.');
    return ipv6Text((this.#view.getBigUint64(at, false) << 64n) | this.#view.getBigUint64(at + 8, false));
  }

  hasPorts(at: number): boolean {
    const protocol = this.u8(at - (at % RECORD) + field.protocol);
    return protocol === TCP || protocol === UDP;
  }

  /** A counter as a number; beyond 2^53 it loses its last digits. */
  count64(at: number): number {
    return count64(this.#view, at);
  }

  /** Sort key of an address of IPv4. */
  ipv4Number(at: number): number {
    return this.#view.getUint32(at + 12, false);
  }

  /** Bits per second of a byte counter at `offset` within the record, since the snapshot before. */
  rate(at: number, offset: number): number {
    const before = this.#previous;
    const time = this.snapshot.nowNs - (before?.nowNs ?? 0);
    if (before === undefined || time <= 0) return 0;
    const earlier = before.find(this.u32(at + field.id), this.u32(at + field.id + 4));
    if (earlier === undefined) return 0;
    const bytes = this.count64(at + offset) - count64(before.view, earlier * RECORD + offset);
    return bytes > 0 ? Math.round((bytes * 8e9) / time) : 0;
  }
}

/** A counter as a number; beyond 2^53 it loses its last digits. */
function count64(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 0x1_0000_0000;
}

/** Hash index of connections by id, with open addressing: filling a `Map` with a hundred thousand bigints takes too long. */
class IdIndex {
  readonly #view: DataView;
  /** Slots: index + 1 of a connection, or 0 for a free one. Twice as many as connections, rounded up to a power of two. */
  readonly #slots: Uint32Array;
  readonly #count: number;
  /** Number of connections that have been added, from the first on. */
  #added = 0;

  constructor(view: DataView, count: number) {
    this.#view = view;
    this.#count = count;
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * count + 2)));
  }

  /** Adds up to `more` connections; true when all have been added. */
  add(more: number): boolean {
    const end = Math.min(this.#count, this.#added + more);
    for (; this.#added < end; this.#added += 1) {
      const at = this.#added * RECORD;
      let slot = this.#home(this.#view.getUint32(at + field.id, true), this.#view.getUint32(at + field.id + 4, true));
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1);
      this.#slots[slot] = this.#added + 1;
    }
    return this.#added === this.#count;
  }

  find(low: number, high: number): number | undefined {
    for (let slot = this.#home(low, high); ; slot = (slot + 1) & (this.#slots.length - 1)) {
      const index = (this.#slots[slot] ?? 0) - 1;
      if (index < 0) return undefined;
      const at = index * RECORD;
      if (this.#view.getUint32(at + field.id, true) === low && this.#view.getUint32(at + field.id + 4, true) === high)
        return index;
    }
  }

  #home(low: number, high: number): number {
    // Fibonacci hashing: ids are counted up, often with the worker in some of the bits.
    const mixed = Math.imul(low ^ Math.imul(high, 0x85eb_ca6b), 0x9e37_79b1);
    return (mixed ^ (mixed >>> 15)) & (this.#slots.length - 1);
  }
}

function endpoint(addressOffset: number, portOffset: number): Reader {
  return (dump, at) => {
    const address = dump.address(at + addressOffset);
    if (!dump.hasPorts(at)) return address;
    return address.includes(':')
      ? `[${address}]:${dump.u16(at + portOffset)}`
      : `${address}:${dump.u16(at + portOffset)}`;
  };
}

function port(offset: number): Reader {
  return (dump, at) => (dump.hasPorts(at) ? String(dump.u16(at + offset)) : undefined);
}

function icmp(read: (dump: ConnectionDump, at: number) => number): Reader {
  return (dump, at) => {
    const protocol = dump.u8(at + field.protocol);
    return protocol === ICMP || protocol === ICMPV6 ? String(read(dump, at)) : undefined;
  };
}

function counter(offset: number): Reader {
  return (dump, at) => dump.u64(at + offset).toString();
}

function flag(bit: number): Reader {
  return (dump, at) => ((dump.u16(at + field.flags) & bit) !== 0 ? 'true' : 'false');
}

const readers: Readonly<Record<string, Reader>> = {
  protocol: (dump, at) => protocolText(dump.u8(at + field.protocol)),
  'src-address': endpoint(field.srcAddress, field.srcPort),
  'dst-address': endpoint(field.dstAddress, field.dstPort),
  'reply-src-address': endpoint(field.replySrcAddress, field.replySrcPort),
  'reply-dst-address': endpoint(field.replyDstAddress, field.replyDstPort),
  'src-port': port(field.srcPort),
  'dst-port': port(field.dstPort),
  'reply-src-port': port(field.replySrcPort),
  'reply-dst-port': port(field.replyDstPort),
  'tcp-state': (dump, at) => tcpStates.get(dump.u8(at + field.tcpState)),
  'icmp-type': icmp((dump, at) => dump.u8(at + field.icmpType)),
  'icmp-code': icmp((dump, at) => dump.u8(at + field.icmpCode)),
  'icmp-id': icmp((dump, at) => dump.u16(at + field.srcPort)),
  'slow-path-reason': (dump, at) => dump.slowReason(at),
  timeout: (dump, at) => durationText(Math.floor(dump.u32(at + field.timeout) / 1000) * 1000),
  vrf: (dump, at) => String(dump.u16(at + field.zone)),
  'connection-mark': (dump, at) => (dump.u32(at + field.mark) === 0 ? undefined : String(dump.u32(at + field.mark))),
  'orig-packets': counter(field.origPackets),
  'orig-bytes': counter(field.origBytes),
  'repl-packets': counter(field.replPackets),
  'repl-bytes': counter(field.replBytes),
  'orig-fasttrack-packets': counter(field.origFasttrackPackets),
  'orig-fasttrack-bytes': counter(field.origFasttrackBytes),
  'repl-fasttrack-packets': counter(field.replFasttrackPackets),
  'repl-fasttrack-bytes': counter(field.replFasttrackBytes),
  'orig-rate': (dump, at) => String(dump.rate(at, field.origBytes)),
  'repl-rate': (dump, at) => String(dump.rate(at, field.replBytes)),
  ...Object.fromEntries(Object.entries(connectionFlag).map(([name, bit]) => [name, flag(bit)])),
};

type NumberReader = (dump: ConnectionDump, at: number) => number;

function endpointNumber(addressOffset: number, portOffset: number): NumberReader {
  return (dump, at) =>
    dump.ipv4Number(at + addressOffset) * 0x2_0000 + (dump.hasPorts(at) ? 1 + dump.u16(at + portOffset) : 0);
}

const counterNumber =
  (offset: number): NumberReader =>
  (dump, at) =>
    dump.count64(at + offset);

const numberReaders: Readonly<Record<string, NumberReader>> = {
  'src-address': endpointNumber(field.srcAddress, field.srcPort),
  'dst-address': endpointNumber(field.dstAddress, field.dstPort),
  'reply-src-address': endpointNumber(field.replySrcAddress, field.replySrcPort),
  'reply-dst-address': endpointNumber(field.replyDstAddress, field.replyDstPort),
  protocol: (dump, at) => dump.u8(at + field.protocol),
  timeout: (dump, at) => Math.floor(dump.u32(at + field.timeout) / 1000),
  'orig-packets': counterNumber(field.origPackets),
  'orig-bytes': counterNumber(field.origBytes),
  'repl-packets': counterNumber(field.replPackets),
  'repl-bytes': counterNumber(field.replBytes),
  'orig-fasttrack-packets': counterNumber(field.origFasttrackPackets),
  'orig-fasttrack-bytes': counterNumber(field.origFasttrackBytes),
  'repl-fasttrack-packets': counterNumber(field.replFasttrackPackets),
  'repl-fasttrack-bytes': counterNumber(field.replFasttrackBytes),
  'orig-rate': (dump, at) => dump.rate(at, field.origBytes),
  'repl-rate': (dump, at) => dump.rate(at, field.replBytes),
};
