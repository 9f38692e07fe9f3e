import { datetimeText, durationText, ipv4Text } from '@tollway/schema';
import type { AddressListEntries } from './messages.js';

/** Size of a record, bytes; the layout is documented at `ReplyBody::AddressListEntries` in crates/config/src/protocol/mod.rs. */
const RECORD = 32;
/** Time left of an entry that stays until the data plane ends. */
const NO_END = 0xffff_ffff;

/** An entry as its id names it. */
export interface DynamicEntry {
  readonly list: string;
  readonly address: string;
  readonly prefixLen: number;
}

/**
 * Names and times that stay from one reading to the next. An `.id` is made of the entry itself: number of its list,
 * prefix length and address. A million entries so need no table of ids.
 */
export class EntryMemory {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  /** Creation of entries that were looked at, seconds since 1970. */
  readonly #created = new Map<string, number>();

  numberOf(list: string): number {
    const known = this.#numbers.get(list);
    if (known !== undefined) return known;
    const number = this.#names.push(list) - 1;
    this.#numbers.set(list, number);
    return number;
  }

  /** `.id` of an entry: `*8` … for IPv4, `*C` … for IPv6. */
  idOf({ list, address, prefixLen }: DynamicEntry): string {
    const number = this.numberOf(list);
    if (address.includes(':')) return id6(number, prefixLen, groupsOf(address));
    return id4(
      number,
      prefixLen,
      address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0),
    );
  }

  /** Entry of an `.id`; undefined for a text that is none, or names a list that was never seen. */
  entryOf(id: string): DynamicEntry | undefined {
    const match = /^\*([89AB][0-9A-F]{7})([0-9A-F]{8})$|^\*([CDEF][0-9A-F]{7})([0-9A-F]{32})$/i.exec(id);
    const [, head4, tail4, head6, tail6 = ''] = match ?? [];
    if (head4 !== undefined) {
      const head = Number.parseInt(head4, 16) - MARK_4;
      const list = this.#names[Math.floor(head / 64)];
      if (list === undefined || head % 64 > 32) return undefined;
      return { list, address: ipv4Text(Number.parseInt(tail4 ?? '', 16)), prefixLen: head % 64 };
    }
    const head = Number.parseInt(head6 ?? '', 16) - MARK_6;
    const list = this.#names[Math.floor(head / 256)];
    if (list === undefined || head % 256 > 128) return undefined;
    return { list, address: ipv6Text(tail6.match(/.{4}/g) ?? []), prefixLen: head % 256 };
  }

  /** Forgets what is known of entries when there are none left. */
  forgetTimes(): void {
    this.#created.clear();
  }

  /** The age of an entry is told in whole seconds: what it gives may waver by one, and is kept as it was first. */
  createdAt(id: string, seconds: number): number {
    const known = this.#created.get(id);
    if (known !== undefined && Math.abs(known - seconds) <= 1) return known;
    // A search through all of them must not push out those that somebody looks at.
    if (known !== undefined || this.#created.size < MOST_CREATED) this.#created.set(id, seconds);
    return seconds;
  }
}

const MARK_4 = 0x8000_0000;
const MARK_6 = 0xc000_0000;
const MOST_CREATED = 20_000;

const hex = (value: number): string => value.toString(16).toUpperCase().padStart(8, '0');
const id4 = (list: number, prefixLen: number, address: number): string =>
  `*${hex(MARK_4 + list * 64 + prefixLen)}${hex(address)}`;
const id6 = (list: number, prefixLen: number, groups: readonly string[]): string =>
  `*${hex(MARK_6 + list * 256 + prefixLen)}${groups
    .map((group) => group.padStart(4, '0'))
    .join('')
    .toUpperCase()}`;

/** The shortest text of an address of eight groups (RFC 5952). */
const ipv6Text = (groups: readonly string[]): string => new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);

/** Eight groups of an address in any of its texts. */
function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = ipv6Text([address]).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
}

/** One reading of the entries that lists have beside the configuration. Nothing is decoded until it is asked for. */
export class AddressListDump {
  readonly count: number;
  /** Names of the lists that have such entries. */
  readonly lists: readonly string[];
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #memory: EntryMemory;
  readonly #numbers: readonly number[];
  readonly #readS: number;

  /** @param readMs when it was read, milliseconds since 1970. */
  constructor({ lists, records }: Pick<AddressListEntries, 'lists' | 'records'>, memory: EntryMemory, readMs: number) {
    this.lists = lists;
    this.#bytes = records;
    this.#view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    this.#memory = memory;
    this.#numbers = lists.map((list) => memory.numberOf(list));
    this.#readS = Math.floor(readMs / 1000);
    this.count = Math.floor(records.byteLength / RECORD);
    if (this.count === 0) memory.forgetTimes();
  }

  get byteLength(): number {
    return this.#bytes.byteLength;
  }

  id(index: number): string {
    const at = index * RECORD;
    const number = this.#numbers[this.#view.getUint32(at, true)] ?? 0;
    const prefixLen = this.#bytes[at + 5] ?? 0;
    if (this.#bytes[at + 4] === 4) return id4(number, prefixLen, this.#view.getUint32(at + 20, false));
    return id6(number, prefixLen, this.#groups(at));
  }

  indexOf(id: string): number | undefined {
    const entry = this.#memory.entryOf(id);
    const list = entry === undefined ? -1 : this.lists.indexOf(entry.list);
    if (entry === undefined || list < 0) return undefined;
    const wanted = id.toUpperCase();
    for (let index = 0; index < this.count; index += 1) {
      const at = index * RECORD;
      if (this.#view.getUint32(at, true) !== list || this.#bytes[at + 5] !== entry.prefixLen) continue;
      if (this.id(index) === wanted) return index;
    }
    return undefined;
  }

  /** Text of a property, as REST sends it; `undefined` when the entry has no such thing. */
  value(index: number, property: string): string | undefined {
    return Object.hasOwn(readers, property) ? readers[property]?.(this, index) : undefined;
  }

  row(index: number): Record<string, string> {
    const row: Record<string, string> = {};
    for (const [property, read] of Object.entries(readers)) {
      const value = read(this, index);
      if (value !== undefined) row[property] = value;
    }
    return row;
  }

  list(index: number): string | undefined {
    return this.lists[this.#view.getUint32(index * RECORD, true)];
  }

  address(index: number): string {
    const at = index * RECORD;
    const four = this.#bytes[at + 4] === 4;
    const text = four ? this.#bytes.subarray(at + 20, at + 24).join('.') : ipv6Text(this.#groups(at));
    const prefixLen = this.#bytes[at + 5] ?? 0;
    return prefixLen === (four ? 32 : 128) ? text : `${text}/${prefixLen}`;
  }

  timeout(index: number): string | undefined {
    const left = this.#view.getUint32(index * RECORD + 24, true);
    return left === NO_END ? undefined : durationText(Math.floor(left / 1000) * 1000);
  }

  createdMs(index: number): number {
    const age = this.#view.getUint32(index * RECORD + 28, true);
    return this.#memory.createdAt(this.id(index), this.#readS - age) * 1000;
  }

  #groups(at: number): readonly string[] {
    return Array.from({ length: 8 }, (_, place) => this.#view.getUint16(at + 8 + 2 * place, false).toString(16));
  }
}

const readers: Readonly<Record<string, (dump: AddressListDump, index: number) => string | undefined>> = {
  '.id': (dump, index) => dump.id(index),
  list: (dump, index) => dump.list(index),
  address: (dump, index) => dump.address(index),
  timeout: (dump, index) => dump.timeout(index),
  'creation-time': (dump, index) => datetimeText(dump.createdMs(index)),
  disabled: () => 'false',
  dynamic: () => 'true',
};
