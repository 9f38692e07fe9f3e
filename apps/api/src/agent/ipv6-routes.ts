import { ipv6RouteRecord, routeFlag } from '@tollway/dataplane-agent/records';
import { ipv6Text } from '@tollway/schema';

const field = ipv6RouteRecord;
const flag = routeFlag;
const RECORD = field.size;
/** Bits of an address. */
const BITS = 128;

/** One reading of the routes of IPv6, in the order of a `RouteDump`. Records are decoded on access. */
export class Ipv6RouteDump {
  readonly count: number;
  /** Index of the first configured route, and of the first learned one. */
  readonly firstStatic: number;
  readonly firstLearned: number;
  readonly #view: DataView;
  /** Indices of configured routes by row. */
  readonly #places = new Map<number, number>();

  constructor({ records }: { readonly records: Uint8Array }) {
    this.#view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    this.count = Math.floor(records.byteLength / RECORD);
    let place = 0;
    while (place < this.count && this.#flag(place, flag.connected)) place += 1;
    this.firstStatic = place;
    for (; place < this.count && this.#flag(place, flag.static); place += 1) this.#places.set(this.row(place), place);
    this.firstLearned = place;
  }

  get byteLength(): number {
    return this.#view.byteLength;
  }

  /** Index of the configured route of a row. */
  placeOf(row: number): number | undefined {
    return this.#places.get(row);
  }

  /** First address of the destination, as a number. */
  first(place: number): bigint {
    return this.#address(place, field.destination);
  }

  /** Last address of the destination. */
  last(place: number): bigint {
    return this.first(place) | ((1n << BigInt(BITS - this.#byte(place, field.prefixLen))) - 1n);
  }

  destination(place: number): string {
    return `${ipv6Text(this.first(place))}/${this.#byte(place, field.prefixLen)}`;
  }

  active(place: number): boolean {
    return this.#flag(place, flag.active);
  }

  blackhole(place: number): boolean {
    return this.#flag(place, flag.blackhole);
  }

  distance(place: number): number {
    return this.#byte(place, field.distance);
  }

  /** Address of the next hop, if the route has one. */
  gateway(place: number): string | undefined {
    const address = this.#address(place, field.gateway);
    return address === 0n ? undefined : ipv6Text(address);
  }

  /** Row of the outgoing interface; 0 for none. */
  interface(place: number): number {
    return this.#view.getUint32(place * RECORD + field.interface, true);
  }

  /** Row of a configured route; row of the address that a connected one follows from. */
  row(place: number): number {
    return this.#view.getUint32(place * RECORD + field.row, true);
  }

  #byte(place: number, at: number): number {
    return this.#view.getUint8(place * RECORD + at);
  }

  #address(place: number, at: number): bigint {
    const offset = place * RECORD + at;
    return (this.#view.getBigUint64(offset) << 64n) | this.#view.getBigUint64(offset + 8);
  }

  #flag(place: number, bit: number): boolean {
    return (this.#view.getUint16(place * RECORD + field.flags, true) & bit) !== 0;
  }
}
