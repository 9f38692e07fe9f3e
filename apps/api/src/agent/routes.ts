import { ipv6RouteRecord, routeFlag, routeRecord } from '@tollway/dataplane-agent/records';
import { ADDRESS_BITS, type AddressFamily, addressText, type Network, networkText } from '@tollway/schema';
import type { Routes } from './messages.js';

/** Local constants: without native module binding, loops over a million routes would look up the imports at each access. */
const LAYOUTS = { ip: routeRecord, ipv6: ipv6RouteRecord } as const;
const flag = routeFlag;

/** An `.id` of a learned route: `*8`, then the number of its table, prefix length, destination and metric. */
const LEARNED_ID = /^\*8([0-9A-F]{5})([0-9A-F]{2})([0-9A-F]{8}|[0-9A-F]{32})([0-9A-F]{8})$/i;

const hex = (value: number | bigint, digits = 8): string => value.toString(16).toUpperCase().padStart(digits, '0');

/**
 * One reading of the routes of a family: connected ones, then configured ones with a record for each next hop, then
 * learned ones.
 * Records are decoded on access.
 */
export class RouteDump {
  readonly count: number;
  /** Index of the first configured route, and of the first learned one. */
  readonly firstStatic: number;
  readonly firstLearned: number;
  readonly family: AddressFamily;
  readonly #field: (typeof LAYOUTS)[AddressFamily];
  readonly #size: number;
  readonly #view: DataView;
  /** Indices of configured routes by row. */
  readonly #places = new Map<number, number>();

  constructor({ records }: Pick<Routes, 'records'>, family: AddressFamily) {
    this.family = family;
    this.#field = LAYOUTS[family];
    this.#size = this.#field.size;
    this.#view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    this.count = Math.floor(records.byteLength / this.#size);
    let place = 0;
    while (place < this.count && this.#flag(place, flag.connected)) place += 1;
    this.firstStatic = place;
    for (; place < this.count && this.#flag(place, flag.static); place += 1) {
      if (!this.further(place)) this.#places.set(this.row(place), place);
    }
    this.firstLearned = place;
  }

  get byteLength(): number {
    return this.#view.byteLength;
  }

  /** Index of the configured route of a row. */
  placeOf(row: number): number | undefined {
    return this.#places.get(row);
  }

  /** Index of the learned route with this `.id`. */
  learnedPlace(id: string): number | undefined {
    const [, table = '', length = '', network = '', metric = ''] = LEARNED_ID.exec(id) ?? [];
    if (network.length !== ADDRESS_BITS[this.family] / 4) return undefined;
    const [wantedTable, wantedLength, wantedMetric] = [table, length, metric].map((each) => Number.parseInt(each, 16));
    const wanted = this.family === 'ip' ? Number.parseInt(network, 16) : BigInt(`0x${network}`);
    for (let place = this.firstLearned; place < this.count; place += 1) {
      if (this.prefixLength(place) !== wantedLength || this.first(place) !== wanted) continue;
      if (this.table(place) !== wantedTable) continue;
      if (this.#number(place, this.#field.metric) === wantedMetric) return place;
    }
    return undefined;
  }

  /** `.id` of a learned route. */
  learnedId(place: number): string {
    const network = hex(this.first(place), ADDRESS_BITS[this.family] / 4);
    return `*${hex(0x8000_0000 + this.table(place) * 0x100 + this.prefixLength(place))}${network}${hex(this.#number(place, this.#field.metric))}`;
  }

  /** First address of the destination; a `bigint` of IPv6. */
  first(place: number): number | bigint {
    return this.#address(place, this.#field.destination);
  }

  prefixLength(place: number): number {
    return this.#view.getUint8(place * this.#size + this.#field.prefixLen);
  }

  /** The destination. */
  network(place: number): Network {
    const [first, length] = [BigInt(this.first(place)), this.prefixLength(place)];
    return { first, last: first | ((1n << BigInt(ADDRESS_BITS[this.family] - length)) - 1n), length };
  }

  destination(place: number): string {
    return networkText(this.network(place), this.family);
  }

  active(place: number): boolean {
    return this.#flag(place, flag.active);
  }

  /** One of several next hops of the routes to its destination. */
  ecmp(place: number): boolean {
    return this.#flag(place, flag.ecmp);
  }

  /** A further next hop of the configured route before. */
  further(place: number): boolean {
    return this.#flag(place, flag.further);
  }

  /** Forwards nothing. */
  discards(place: number): boolean {
    return this.blackhole(place) || this.unreachable(place) || this.prohibit(place);
  }

  blackhole(place: number): boolean {
    return this.#flag(place, flag.blackhole);
  }

  /** Answers packets with host unreachable. */
  unreachable(place: number): boolean {
    return this.#flag(place, flag.unreachable);
  }

  /** Answers packets with communication administratively prohibited. */
  prohibit(place: number): boolean {
    return this.#flag(place, flag.prohibit);
  }

  /** A learned route with several next hops, of which only the first is used. */
  multipath(place: number): boolean {
    return this.#flag(place, flag.multipath);
  }

  distance(place: number): number {
    return this.#view.getUint8(place * this.#size + this.#field.distance);
  }

  /** Routing protocol number (rtnetlink(7)). */
  protocol(place: number): number {
    return this.#view.getUint16(place * this.#size + this.#field.protocol, true);
  }

  /** Address of the next hop, if the route has one. */
  gateway(place: number): string | undefined {
    const address = BigInt(this.#address(place, this.#field.gateway));
    return address === 0n ? undefined : addressText(address, this.family);
  }

  /** Number of its table; 0 for the main table. */
  table(place: number): number {
    return this.#view.getUint16(place * this.#size + this.#field.table, true);
  }

  /** Row of the outgoing interface; 0 for none. */
  interface(place: number): number {
    return this.#number(place, this.#field.interface);
  }

  /** Row of a configured route; row of the address that a connected one follows from. */
  row(place: number): number {
    return this.#number(place, this.#field.row);
  }

  #number(place: number, at: number): number {
    return this.#view.getUint32(place * this.#size + at, true);
  }

  #address(place: number, at: number): number | bigint {
    if (this.family === 'ip') return this.#number(place, at);
    const offset = place * this.#size + at;
    return (this.#view.getBigUint64(offset) << 64n) | this.#view.getBigUint64(offset + 8);
  }

  #flag(place: number, bit: number): boolean {
    return (this.#view.getUint16(place * this.#size + this.#field.flags, true) & bit) !== 0;
  }
}
