import { createHash } from 'node:crypto';
import { addressListRecord, NO_END } from '@tollway/dataplane-agent/records';
import { datetimeText, durationText, ipv4Text, ipv6, ipv6Text } from '@tollway/schema';
import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { AddressListEntries } from './messages.js';

/** A local constant: without native module binding, hot loops would look up the import at each access. */
const field = addressListRecord;
const RECORD = field.size;
/** Offset of the last four bytes of the address, which are all of an IPv4 address. */
const LAST_WORD = field.address + 12;

/** The entry that an id identifies. */
interface DynamicEntry {
  readonly list: string;
  readonly address: string;
  readonly prefixLen: number;
}

/**
 * State that is kept about entries between readings. An `.id` is computed from the entry: the hash of its list's name,
 * the prefix length and the address. So a million entries need no table of ids, and ids survive a restart.
 */
export class EntryMemory {
  /** Hash of a list's name, by that name. */
  readonly #hashes = new Map<string, string>();
  readonly #names = new Map<string, string>();
  /** Creation times of entries that were requested, seconds since 1970. */
  readonly #created = new Map<string, number>();

  listHash(list: string): string {
    let hash = this.#hashes.get(list);
    if (hash === undefined) {
      hash = createHash('sha256').update(list).digest('hex').slice(0, HASH_DIGITS).toUpperCase();
      this.#hashes.set(list, hash);
      this.#names.set(hash, list);
    }
    return hash;
  }

  /** `.id` of an entry: `*8` … for IPv4, `*C` … for IPv6. */
  idOf({ list, address, prefixLen }: DynamicEntry): string {
    const hash = this.listHash(list);
    if (address.includes(':')) return id6(hash, prefixLen, ipv6(address) ?? 0n);
    return id4(
      hash,
      prefixLen,
      address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0),
    );
  }

  /** The entry with this `.id`; undefined for an invalid id, or the hash of an unknown list. */
  entryOf(id: string): DynamicEntry | undefined {
    const [, prefix, hash = '', length = '', address = ''] = ID.exec(id.toUpperCase()) ?? [];
    const list = this.#names.get(hash);
    const prefixLen = Number.parseInt(length, 16);
    if (list === undefined || prefixLen > (prefix === ID_PREFIX_4 ? 32 : 128)) return undefined;
    if (prefix === ID_PREFIX_4) {
      return address.length === 8 ? { list, address: ipv4Text(Number.parseInt(address, 16)), prefixLen } : undefined;
    }
    return address.length === 32 ? { list, address: ipv6Text(BigInt(`0x${address}`)), prefixLen } : undefined;
  }

  /** Clears the creation times when there are no entries. */
  forgetTimes(): void {
    this.#created.clear();
  }

  /** The agent reports ages in whole seconds, so that computed creation times vary by one: the first one is kept. */
  createdAt(id: string, seconds: number): number {
    const known = this.#created.get(id);
    if (known !== undefined && Math.abs(known - seconds) <= 1) return known;
    // A search through all entries must not evict the creation times of the entries that are shown.
    if (known !== undefined || this.#created.size < MAX_CREATED) this.#created.set(id, seconds);
    return seconds;
  }
}

const ID_PREFIX_4 = '8';
const ID_PREFIX_6 = 'C';
/** Hex digits of a list's hash, 44 bits: the probability of a collision among a thousand lists is 3e-8. */
const HASH_DIGITS = 11;
/** Prefix, hash of the list, prefix length, address. */
const ID = /^\*([8C])([0-9A-F]{11})([0-9A-F]{2})((?:[0-9A-F]{8}){1,4})$/;
/** Length of the part before the address. */
const ADDRESS_AT = 15;
const MAX_CREATED = 20_000;

const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');
const id4 = (hash: string, prefixLen: number, address: number): string =>
  `*${ID_PREFIX_4}${hash}${hex(prefixLen, 2)}${hex(address, 8)}`;
const id6 = (hash: string, prefixLen: number, address: bigint): string =>
  `*${ID_PREFIX_6}${hash}${hex(prefixLen, 2)}${address.toString(16).padStart(32, '0').toUpperCase()}`;

/** The address of an id in words of 32 bits: one of IPv4, four of IPv6. */
const wordsOf = (id: string): readonly number[] =>
  (id.slice(ADDRESS_AT).match(/.{8}/g) ?? []).map((word) => Number.parseInt(word, 16));

/** One reading of the dynamic entries of address lists. Records are decoded on access. */
export class AddressListDump {
  readonly count: number;
  /** Names of the lists with dynamic entries. */
  readonly lists: readonly string[];
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #memory: EntryMemory;
  readonly #hashes: readonly string[];
  readonly #readS: number;

  /** @param readMs time of the reading, milliseconds since 1970. */
  constructor({ lists, records }: Pick<AddressListEntries, 'lists' | 'records'>, memory: EntryMemory, readMs: number) {
    this.lists = lists;
    this.#bytes = records;
    this.#view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    this.#memory = memory;
    this.#hashes = lists.map((list) => memory.listHash(list));
    this.#readS = Math.floor(readMs / 1000);
    this.count = Math.floor(records.byteLength / RECORD);
    if (this.count === 0) memory.forgetTimes();
  }

  get byteLength(): number {
    return this.#bytes.byteLength;
  }

  readonly #places = new Map<4 | 6, Uint32Array | undefined>();

  /** Indices of the entries of a family, ascending; undefined where all are of it. Computed once. */
  placesOf(family: 4 | 6): Uint32Array | undefined {
    if (!this.#places.has(family)) this.#places.set(family, this.#findPlaces(family));
    return this.#places.get(family);
  }

  #findPlaces(family: 4 | 6): Uint32Array | undefined {
    let found = 0;
    for (let index = 0; index < this.count; index += 1) {
      if (this.#bytes[index * RECORD + field.family] === family) found += 1;
    }
    if (found === this.count) return undefined;
    const places = new Uint32Array(found);
    let at = 0;
    for (let index = 0; index < this.count; index += 1) {
      if (this.#bytes[index * RECORD + field.family] === family) {
        places[at] = index;
        at += 1;
      }
    }
    return places;
  }

  id(index: number): string {
    const at = index * RECORD;
    const hash = this.#hashes[this.#view.getUint32(at + field.list, true)] ?? '';
    const prefixLen = this.#bytes[at + field.prefixLen] ?? 0;
    if (this.#bytes[at + field.family] === 4) return id4(hash, prefixLen, this.#view.getUint32(at + LAST_WORD, false));
    return id6(hash, prefixLen, this.#ipv6(at));
  }

  indexOf(id: string): number | undefined {
    const entry = this.#memory.entryOf(id);
    const list = entry === undefined ? -1 : this.lists.indexOf(entry.list);
    if (entry === undefined || list < 0) return undefined;
    const words = wordsOf(id);
    const family = words.length === 1 ? 4 : 6;
    const last = words.at(-1);
    // Compares numbers instead of texts: there may be a million entries.
    for (let index = 0; index < this.count; index += 1) {
      const at = index * RECORD;
      if (this.#view.getUint32(at + LAST_WORD, false) !== last || this.#view.getUint32(at + field.list, true) !== list)
        continue;
      if (this.#bytes[at + field.family] !== family || this.#bytes[at + field.prefixLen] !== entry.prefixLen) continue;
      const first = at + LAST_WORD - 4 * (words.length - 1);
      if (words.every((word, place) => this.#view.getUint32(first + 4 * place, false) === word)) return index;
    }
    return undefined;
  }

  /** The ids, in upper case, whose entries exist. One pass, however many ids are given. */
  async present(ids: readonly string[], slicer: TimeSlicer): Promise<ReadonlySet<string>> {
    const wanted = new Set<string>();
    const lasts = new Set<number>();
    for (const [place, id] of ids.entries()) {
      if (slicer.overAt(place)) await slicer.pause();
      wanted.add(id.toUpperCase());
      lasts.add(wordsOf(id).at(-1) ?? 0);
    }
    const found = new Set<string>();
    for (let index = 0; index < this.count; index += 1) {
      if (slicer.overAt(index)) await slicer.pause();
      if (!lasts.has(this.#view.getUint32(index * RECORD + LAST_WORD, false))) continue;
      const id = this.id(index);
      if (wanted.has(id)) found.add(id);
    }
    return found;
  }

  /** Text of a property, as REST sends it; `undefined` when the entry has no such property. */
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
    return this.lists[this.#view.getUint32(index * RECORD + field.list, true)];
  }

  address(index: number): string {
    const at = index * RECORD;
    const four = this.#bytes[at + field.family] === 4;
    const text = four ? this.#bytes.subarray(at + LAST_WORD, at + LAST_WORD + 4).join('.') : ipv6Text(this.#ipv6(at));
    const prefixLen = this.#bytes[at + field.prefixLen] ?? 0;
    return prefixLen === (four ? 32 : 128) ? text : `${text}/${prefixLen}`;
  }

  timeout(index: number): string | undefined {
    const left = this.#view.getUint32(index * RECORD + field.left, true);
    return left === NO_END ? undefined : durationText(Math.floor(left / 1000) * 1000);
  }

  createdMs(index: number): number {
    const age = this.#view.getUint32(index * RECORD + field.age, true);
    return this.#memory.createdAt(this.id(index), this.#readS - age) * 1000;
  }

  #ipv6(at: number): bigint {
    return (
      (this.#view.getBigUint64(at + field.address, false) << 64n) |
      this.#view.getBigUint64(at + field.address + 8, false)
    );
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
