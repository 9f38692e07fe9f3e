import { routeFlag, routeRecord } from '@tollway/dataplane-agent/records';
import { ipv4Text } from '@tollway/schema';
import type { Routes } from './messages.js';

/** Local constants: without native module binding, loops over a million routes would look up the imports at each access. */
const field = routeRecord;
const flag = routeFlag;
const RECORD = field.size;

/** An `.id` of a learned route: `*8` …, then prefix length, destination and metric. */
const LEARNED_ID = /^\*800000([0-9A-F]{2})([0-9A-F]{8})([0-9A-F]{8})$/i;

const hex = (value: number): string => value.toString(16).toUpperCase().padStart(8, '0');

/**
 * One reading of the routes: connected ones, then configured ones with a record for each next hop, then learned ones.
 * Records are decoded on access.
 */
export class RouteDump {
  readonly count: number;
  /** Index of the first configured route, and of the first learned one. */
  readonly firstStatic: number;
  readonly firstLearned: number;
  readonly #view: DataView;
  /** Indices of configured routes by row. */
  readonly #places = new Map<number, number>();

  constructor({ records }: Pick<Routes, 'records'>) {
    this.#view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    this.count = Math.floor(records.byteLength / RECORD);
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
    const [, length = '', network = '', metric = ''] = LEARNED_ID.exec(id) ?? [];
    if (metric === '') return undefined;
    const wanted = [length, network, metric].map((part) => Number.parseInt(part, 16));
    for (let place = this.firstLearned; place < this.count; place += 1) {
      const at = place * RECORD;
      if (
        this.#view.getUint32(at + field.destination, true) !== wanted[1] ||
        this.#view.getUint8(at + field.prefixLen) !== wanted[0]
      )
        continue;
      if (this.#view.getUint32(at + field.metric, true) === wanted[2]) return place;
    }
    return undefined;
  }

  /** `.id` of a learned route. */
  learnedId(place: number): string {
    const at = place * RECORD;
    const [length, network] = [
      this.#view.getUint8(at + field.prefixLen),
      this.#view.getUint32(at + field.destination, true),
    ];
    return `*${hex(0x8000_0000 + length)}${hex(network)}${hex(this.#view.getUint32(at + field.metric, true))}`;
  }

  /** First address of the destination, as a number. */
  first(place: number): number {
    return this.#view.getUint32(place * RECORD + field.destination, true);
  }

  /** Last address of the destination. */
  last(place: number): number {
    return this.first(place) + 2 ** (32 - this.prefixLength(place)) - 1;
  }

  prefixLength(place: number): number {
    return this.#view.getUint8(place * RECORD + field.prefixLen);
  }

  destination(place: number): string {
    return `${ipv4Text(this.first(place))}/${this.prefixLength(place)}`;
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
    return this.#view.getUint8(place * RECORD + field.distance);
  }

  /** Routing protocol number (rtnetlink(7)). */
  protocol(place: number): number {
    return this.#view.getUint16(place * RECORD + field.protocol, true);
  }

  /** Address of the next hop, if the route has one. */
  gateway(place: number): string | undefined {
    const address = this.#view.getUint32(place * RECORD + field.gateway, true);
    return address === 0 ? undefined : ipv4Text(address);
  }

  /** Row of the outgoing interface; 0 for none. */
  interface(place: number): number {
    return this.#view.getUint32(place * RECORD + field.interface, true);
  }

  /** Row of a configured route; row of the address that a connected one follows from. */
  row(place: number): number {
    return this.#view.getUint32(place * RECORD + field.row, true);
  }

  #flag(place: number, bit: number): boolean {
    return (this.#view.getUint16(place * RECORD + field.flags, true) & bit) !== 0;
  }
}
