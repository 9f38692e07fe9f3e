import { durationText, protocolText } from '@tollway/schema';
import type { Connections } from './messages.js';

/** Size of a record, bytes; the layout is documented at `ReplyBody::Connections` in protocol.rs. */
export const RECORD = 160;

const tcpStates = [
  'none',
  'syn-sent',
  'syn-recv',
  'established',
  'fin-wait',
  'close-wait',
  'last-ack',
  'time-wait',
  'close',
  'listen',
] as const;

const ICMP = 1;
const ICMPV6 = 58;
/** Protocols whose records carry ports. */
const portProtocols = new Set([6, 17, 33, 132, 136]);

const flagBits = {
  'seen-reply': 1,
  assured: 2,
  confirmed: 4,
  fasttrack: 8,
  srcnat: 16,
  dstnat: 32,
  dying: 64,
} as const;

type Reader = (dump: ConnectionDump, at: number) => string | undefined;

/** One snapshot of the connection table. Nothing is decoded until it is asked for. */
export class ConnectionDump {
  readonly count: number;
  readonly nowNs: number;
  readonly #view: DataView;
  readonly #bytes: Uint8Array;
  #previous: ConnectionDump | undefined;
  #index: Map<bigint, number> | undefined;

  /** `previous`, an earlier snapshot, gives the rates. */
  constructor(reply: Connections, previous: ConnectionDump | undefined) {
    this.#bytes = reply.records;
    this.#view = new DataView(reply.records.buffer, reply.records.byteOffset, reply.records.byteLength);
    this.nowNs = Number(reply['now-ns']);
    this.count = Math.floor(reply.records.byteLength / RECORD);
    this.#previous = previous;
    // Two snapshots are kept, not a chain of them.
    if (previous !== undefined) previous.#previous = undefined;
  }

  id(index: number): bigint {
    return this.#view.getBigUint64(index * RECORD, true);
  }

  indexOf(id: bigint): number | undefined {
    this.#index ??= new Map(Array.from({ length: this.count }, (_, index) => [this.id(index), index]));
    return this.#index.get(id);
  }

  /** Text of a property, as REST sends it; `undefined` when the connection has no such thing. */
  value(index: number, property: string): string | undefined {
    if (property === '.id') return `*${this.id(index).toString(16).toUpperCase()}`;
    return readers[property]?.(this, index * RECORD);
  }

  row(index: number): Record<string, string> {
    const row: Record<string, string> = { '.id': this.value(index, '.id') ?? '' };
    for (const [property, read] of Object.entries(readers)) {
      const value = read(this, index * RECORD);
      if (value !== undefined) row[property] = value;
    }
    return row;
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
    if (this.u8(at - (at % RECORD) + 9) === 4) return this.#bytes.subarray(at + 12, at + 16).join('.');
    const groups = Array.from({ length: 8 }, (_, i) => this.#view.getUint16(at + 2 * i, false).toString(16));
    return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
  }

  hasPorts(at: number): boolean {
    return portProtocols.has(this.u8(at - (at % RECORD) + 8));
  }

  /** Bits per second of a byte counter at `offset` within the record, since the snapshot before. */
  rate(at: number, offset: number): string {
    const before = this.#previous;
    const earlier = before?.indexOf(this.u64(at));
    if (before === undefined || earlier === undefined || before.nowNs >= this.nowNs) return '0';
    const bytes = this.u64(at + offset) - before.u64(earlier * RECORD + offset);
    return String(bytes > 0n ? Math.round((Number(bytes) * 8e9) / (this.nowNs - before.nowNs)) : 0);
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
    const protocol = dump.u8(at + 8);
    return protocol === ICMP || protocol === ICMPV6 ? String(read(dump, at)) : undefined;
  };
}

function counter(offset: number): Reader {
  return (dump, at) => dump.u64(at + offset).toString();
}

function flag(bit: number): Reader {
  return (dump, at) => ((dump.u16(at + 10) & bit) !== 0 ? 'true' : 'false');
}

const readers: Readonly<Record<string, Reader>> = {
  protocol: (dump, at) => protocolText(dump.u8(at + 8)),
  'src-address': endpoint(16, 80),
  'dst-address': endpoint(32, 82),
  'reply-src-address': endpoint(48, 84),
  'reply-dst-address': endpoint(64, 86),
  'src-port': port(80),
  'dst-port': port(82),
  'reply-src-port': port(84),
  'reply-dst-port': port(86),
  'tcp-state': (dump, at) => tcpStates[dump.u8(at + 12)],
  'icmp-type': icmp((dump, at) => dump.u8(at + 13)),
  'icmp-code': icmp((dump, at) => dump.u8(at + 14)),
  'icmp-id': icmp((dump, at) => dump.u16(at + 80)),
  timeout: (dump, at) => durationText(Math.floor(dump.u32(at + 88) / 1000) * 1000),
  'connection-mark': (dump, at) => (dump.u32(at + 92) === 0 ? undefined : String(dump.u32(at + 92))),
  'orig-packets': counter(96),
  'orig-bytes': counter(104),
  'repl-packets': counter(112),
  'repl-bytes': counter(120),
  'orig-fasttrack-packets': counter(128),
  'orig-fasttrack-bytes': counter(136),
  'repl-fasttrack-packets': counter(144),
  'repl-fasttrack-bytes': counter(152),
  'orig-rate': (dump, at) => dump.rate(at, 104),
  'repl-rate': (dump, at) => dump.rate(at, 120),
  ...Object.fromEntries(Object.entries(flagBits).map(([name, bit]) => [name, flag(bit)])),
};
