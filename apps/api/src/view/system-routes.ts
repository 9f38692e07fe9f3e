import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import type { RouteDump } from '../agent/routes.js';
import type { AddressColumn } from '../query/membership.js';
import { parseRowId, rowIdText } from '../snapshot/snapshot.js';
import type { Names } from './route-hints.js';
import { type RestRow, type RowSet, yesNo } from './rows.js';

/** RouterOS's flags of where routes of other programs come from, by their numbers in rtnetlink(7). */
const PROTOCOL_FLAGS: ReadonlyMap<number, string> = new Map([
  [9, 'slaac'],
  [186, 'bgp'],
  [187, 'is-is'],
  [188, 'ospf'],
  [189, 'rip'],
]);

/** Neighbours and interfaces of all next hops of a route. */
export function immediateGateway(dump: RouteDump, place: number, names: Names): string | undefined {
  const hops: string[] = [];
  for (let at = place; at < dump.count && (at === place || dump.further(at)); at += 1) {
    const name = names.get(dump.interface(at));
    if (name === undefined) continue;
    const gateway = dump.gateway(at);
    hops.push(gateway === undefined ? name : `${gateway}%${name}`);
  }
  return hops.length === 0 ? undefined : hops.join(',');
}

type Reader = (dump: RouteDump, place: number, names: Names, tables: readonly string[]) => string | undefined;

/** Attributes of another program's route for which RouterOS has no property. */
const beyondProperties: Reader = (dump, place) =>
  dump.multipath(place) ? 'of the several next hops of this route only the first is used' : undefined;

const flagOf =
  (flag: string): Reader =>
  (dump, place) =>
    PROTOCOL_FLAGS.get(dump.protocol(place)) === flag ? 'true' : undefined;

/** Readers of the properties of connected and learned routes. */
const readers: Readonly<Record<string, Reader>> = {
  '.id': (dump, place) =>
    place < dump.firstStatic ? rowIdText(FIRST_DYNAMIC_ROW + dump.row(place)) : dump.learnedId(place),
  'dst-address': (dump, place) => dump.destination(place),
  gateway: (dump, place, names) =>
    dump.gateway(place) ?? (dump.interface(place) === 0 ? undefined : names.get(dump.interface(place))),
  'immediate-gw': immediateGateway,
  'routing-table': (dump, place, _, tables) => tables[dump.table(place)],
  distance: (dump, place) => String(dump.distance(place)),
  blackhole: (dump, place) => (dump.blackhole(place) ? 'true' : undefined),
  unreachable: (dump, place) => (dump.unreachable(place) ? 'true' : undefined),
  prohibit: (dump, place) => (dump.prohibit(place) ? 'true' : undefined),
  hint: beyondProperties,
  disabled: () => 'false',
  dynamic: () => 'true',
  active: (dump, place) => yesNo(dump.active(place)),
  inactive: (dump, place) => yesNo(!dump.active(place)),
  connect: (dump, place) => (place < dump.firstStatic ? 'true' : undefined),
  ...Object.fromEntries([...PROTOCOL_FLAGS.values()].map((flag) => [flag, flagOf(flag)])),
};

/** Connected routes, then routes of other programs. There may be a million: each is decoded on access. */
export class SystemRoutes implements RowSet {
  readonly #dump: RouteDump;
  readonly #names: Names;
  readonly #tables: readonly string[];
  readonly #connected: number;
  readonly length: number;

  /** @param tables names of routing tables, by number */
  constructor(dump: RouteDump, names: Names, tables: readonly string[]) {
    this.#dump = dump;
    this.#names = names;
    this.#tables = tables;
    this.#connected = dump.firstStatic;
    this.length = dump.firstStatic + dump.count - dump.firstLearned;
  }

  /** Index in the reading. */
  #place(index: number): number {
    return index < this.#connected ? index : index - this.#connected + this.#dump.firstLearned;
  }

  id(index: number): string {
    return this.value(index, '.id') ?? '';
  }

  indexOf(id: string): number | undefined {
    const number = parseRowId(id);
    if (number === undefined) {
      const place = this.#dump.learnedPlace(id);
      return place === undefined ? undefined : this.#connected + place - this.#dump.firstLearned;
    }
    if (number < FIRST_DYNAMIC_ROW) return undefined;
    for (let place = 0; place < this.#connected; place += 1) {
      if (this.#dump.row(place) === number - FIRST_DYNAMIC_ROW) return place;
    }
    return undefined;
  }

  value(index: number, property: string): string | undefined {
    if (index >= this.length || !Object.hasOwn(readers, property)) return undefined;
    return readers[property]?.(this.#dump, this.#place(index), this.#names, this.#tables);
  }

  row(index: number): RestRow {
    const row: Record<string, string> = {};
    if (index >= this.length) return row;
    const place = this.#place(index);
    for (const property in readers) {
      const value = readers[property]?.(this.#dump, place, this.#names, this.#tables);
      if (value !== undefined) row[property] = value;
    }
    return row;
  }

  range(property: string): AddressColumn | undefined {
    // Addresses of IPv6 are no numbers: they are compared by the column's kind.
    if (property !== 'dst-address' || this.#dump.family === 'ipv6') return undefined;
    const first = (index: number) => Number(this.#dump.first(this.#place(index)));
    return { first, last: (index) => first(index) + 2 ** (32 - this.#dump.prefixLength(this.#place(index))) - 1 };
  }

  sortNumbers(column: string): ((index: number) => number) | undefined {
    if (column === 'distance') return (index) => this.#dump.distance(this.#place(index));
    const range = this.range(column);
    // The same order as that of the column's kind: by the first address, then by the prefix length; a shorter prefix
    // has a later last address.
    return (
      range && ((index) => range.first(index) * 0x2_0000 + 33 - Math.log2(range.last(index) - range.first(index) + 1))
    );
  }
}
