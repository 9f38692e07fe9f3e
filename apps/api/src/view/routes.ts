import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import { ipv4Mask, ipv4Prefix, ipv4Text, type Menu, parseNexthop } from '@tollway/schema';
import { RouteDump } from '../agent/routes.js';
import type { ConfigStore } from '../config/store.js';
import type { AddressColumn } from '../query/membership.js';
import { interfaceName, interfaceNames, interfacesOf } from '../snapshot/interfaces.js';
import { parseRowId, type Row, rowIdText } from '../snapshot/snapshot.js';
import type { LiveState } from '../state/live-state.js';
import { type RestRow, type RowSet, type View, yesNo } from './rows.js';
import { StoredParts, StoredRows } from './stored-rows.js';

/** RouterOS's flags of routing protocols, by their numbers in rtnetlink(7). */
const PROTOCOL_FLAGS: ReadonlyMap<number, string> = new Map([
  [186, 'bgp'],
  [187, 'is-is'],
  [188, 'ospf'],
  [189, 'rip'],
]);

const NO_ROUTES = new RouteDump({ records: new Uint8Array(0) });

/** Static routes with their state, then the connected ones, which follow from addresses, and those of other programs. */
export function routesView(menu: Menu, store: ConfigStore, live: LiveState): View {
  const parts = new StoredParts(menu);
  return async (maxAgeMs) => {
    const known = await live.routes(maxAgeMs);
    const dump = known ?? NO_ROUTES;
    const { snapshot, invalid } = store;
    const interfaces = interfacesOf(snapshot);
    const names = interfaceNames(snapshot);
    const rows = snapshot.get(menu.path) ?? [];
    const byId = new Map(rows.map((row) => [row.id, row]));
    const own = ownAddresses(snapshot.get('/ip/address') ?? [], interfaces);
    const stored = new StoredRows(rows, (row) => parts.of(row, invalid.get(row.id)), {
      properties: ['static', 'active', 'inactive', 'immediate-gw', 'hint'],
      value: (id, property) => {
        const place = dump.placeOf(id);
        const active = place !== undefined && dump.active(place);
        switch (property) {
          case 'static':
            return 'true';
          case 'active':
            return known && yesNo(active);
          case 'inactive':
            return known && yesNo(!active && byId.get(id)?.disabled !== true);
          case 'hint':
            // One that cannot work at all, as its gateway is the router itself, the data plane has not been given.
            if (place === undefined) return invalid.get(id);
            return active ? undefined : whyUnused(dump, place, byId.get(id), names, own);
          default:
            return place === undefined ? undefined : immediateGateway(dump, place, names);
        }
      },
    });
    return new RouteRows(rows, stored, known, names);
  };
}

/** Addresses that the router has: not those that are disabled, nor those of disabled interfaces. */
function ownAddresses(addresses: readonly Row[], interfaces: readonly Row[]): ReadonlySet<string | undefined> {
  const disabledInterfaces = new Set(interfaces.filter(({ disabled }) => disabled).map(interfaceName));
  const has = ({ disabled, values }: Row) => !disabled && !disabledInterfaces.has(values.interface ?? '');
  return new Set(addresses.filter(has).map(({ values }) => values.address?.split('/', 1)[0]));
}

type Names = ReadonlyMap<number, string | undefined>;

function immediateGateway(dump: RouteDump, place: number, names: Names): string | undefined {
  const name = names.get(dump.interface(place));
  if (name === undefined) return undefined;
  const gateway = dump.gateway(place);
  return gateway === undefined ? name : `${gateway}%${name}`;
}

/** Reason why a configured route that the data plane has is not used. @param own addresses of the router */
function whyUnused(
  dump: RouteDump,
  place: number,
  row: Row | undefined,
  names: Names,
  own: ReadonlySet<string | undefined>,
): string | undefined {
  if (dump.blackhole(place) || dump.interface(place) !== 0) {
    return `another route to ${dump.destination(place)} is preferred`;
  }
  const hop = parseNexthop(row?.values.gateway ?? '');
  if (hop?.address === undefined) {
    return hop?.interface === undefined ? undefined : `the interface ${hop.interface} has no link or is disabled`;
  }
  const gateway = ipv4Text(hop.address);
  if (own.has(gateway)) return `the gateway ${gateway} is an address of this router`;
  let behind: string | undefined;
  for (let network = 0; network < dump.firstStatic; network += 1) {
    if (hop.address < dump.first(network) || hop.address > dump.last(network)) continue;
    // Networks of two addresses have no broadcast address (RFC 3021).
    if (hop.address === dump.last(network) && dump.last(network) - dump.first(network) > 1) {
      return `the gateway ${gateway} is the broadcast address of ${dump.destination(network)}`;
    }
    const name = names.get(dump.interface(network));
    if (hop.interface === undefined || hop.interface === name) behind ??= name;
  }
  if (behind !== undefined) {
    return `the interface ${behind}, behind which the gateway ${gateway} is, has no link or is disabled`;
  }
  const where = hop.interface === undefined ? '' : ` on ${hop.interface}`;
  return `the gateway ${gateway} is in none of the networks that the router has an address in${where}`;
}

type Reader = (dump: RouteDump, place: number, names: Names) => string | undefined;

/** Parts of a route of another program that RouterOS has no property for. */
function beyondProperties(dump: RouteDump, place: number): string | undefined {
  if (dump.unreachable(place)) return 'a route of type unreachable: packets are answered with host unreachable';
  if (dump.prohibit(place)) {
    return 'a route of type prohibit: packets are answered with communication administratively prohibited';
  }
  return dump.multipath(place) ? 'of the several next hops of this route only the first is used' : undefined;
}

const flagOf =
  (flag: string): Reader =>
  (dump, place) =>
    PROTOCOL_FLAGS.get(dump.protocol(place)) === flag ? 'true' : undefined;

/** The REST form of connected and learned routes. */
const readers: Readonly<Record<string, Reader>> = {
  '.id': (dump, place) =>
    place < dump.firstStatic ? rowIdText(FIRST_DYNAMIC_ROW + dump.row(place)) : dump.learnedId(place),
  'dst-address': (dump, place) => dump.destination(place),
  gateway: (dump, place, names) =>
    dump.gateway(place) ?? (dump.interface(place) === 0 ? undefined : names.get(dump.interface(place))),
  'immediate-gw': immediateGateway,
  distance: (dump, place) => String(dump.distance(place)),
  blackhole: (dump, place) => (dump.blackhole(place) ? 'true' : undefined),
  hint: beyondProperties,
  disabled: () => 'false',
  dynamic: () => 'true',
  active: (dump, place) => yesNo(dump.active(place)),
  inactive: (dump, place) => yesNo(!dump.active(place)),
  connect: (dump, place) => (place < dump.firstStatic ? 'true' : undefined),
  ...Object.fromEntries([...PROTOCOL_FLAGS.values()].map((flag) => [flag, flagOf(flag)])),
};

/** Configured routes, connected ones, those of other programs. There may be a million: each is decoded when it is looked at. */
class RouteRows implements RowSet {
  readonly #rows: readonly Row[];
  readonly #stored: StoredRows;
  readonly #dump: RouteDump;
  readonly #names: Names;
  readonly #connected: number;
  readonly incomplete: boolean;

  constructor(rows: readonly Row[], stored: StoredRows, known: RouteDump | undefined, names: Names) {
    this.#rows = rows;
    this.#stored = stored;
    this.#dump = known ?? NO_ROUTES;
    this.#names = names;
    this.#connected = rows.length + this.#dump.firstStatic;
    this.incomplete = known === undefined;
  }

  get length(): number {
    return this.#connected + this.#dump.count - this.#dump.firstLearned;
  }

  /** Index in the reading of a connected or learned route. */
  #place(index: number): number {
    return index < this.#connected ? index - this.#rows.length : index - this.#connected + this.#dump.firstLearned;
  }

  id(index: number): string {
    return index < this.#rows.length ? this.#stored.id(index) : (this.value(index, '.id') ?? '');
  }

  indexOf(id: string): number | undefined {
    const number = parseRowId(id);
    if (number === undefined) {
      const place = this.#dump.learnedPlace(id);
      return place === undefined ? undefined : this.#connected + place - this.#dump.firstLearned;
    }
    if (number < FIRST_DYNAMIC_ROW) return this.#stored.indexOf(id);
    for (let place = 0; place < this.#dump.firstStatic; place += 1) {
      if (this.#dump.row(place) === number - FIRST_DYNAMIC_ROW) return this.#rows.length + place;
    }
    return undefined;
  }

  value(index: number, property: string): string | undefined {
    if (index < this.#rows.length) return this.#stored.value(index, property);
    if (index >= this.length || !Object.hasOwn(readers, property)) return undefined;
    return readers[property]?.(this.#dump, this.#place(index), this.#names);
  }

  row(index: number): RestRow {
    if (index < this.#rows.length) return this.#stored.row(index);
    const row: Record<string, string> = {};
    if (index >= this.length) return row;
    const place = this.#place(index);
    for (const property in readers) {
      const value = readers[property]?.(this.#dump, place, this.#names);
      if (value !== undefined) row[property] = value;
    }
    return row;
  }

  range(property: string): AddressColumn | undefined {
    if (property !== 'dst-address') return undefined;
    return {
      first: (index) =>
        index < this.#rows.length ? this.#storedRange(index)[0] : this.#dump.first(this.#place(index)),
      last: (index) => (index < this.#rows.length ? this.#storedRange(index)[1] : this.#dump.last(this.#place(index))),
    };
  }

  sortNumbers(column: string): ((index: number) => number) | undefined {
    if (column === 'distance') {
      return (index) =>
        index < this.#rows.length
          ? Number(this.#stored.value(index, 'distance'))
          : this.#dump.distance(this.#place(index));
    }
    const range = this.range(column);
    // By the first address, then by the length: the shorter the later the last address.
    return range && ((index) => range.first(index) * 64 + 32 - Math.log2(range.last(index) - range.first(index) + 1));
  }

  #storedRange(index: number): readonly [number, number] {
    const prefix = ipv4Prefix(this.#stored.value(index, 'dst-address') ?? '');
    if (prefix === undefined) return [Number.NaN, Number.NaN];
    const first = (prefix.address & ipv4Mask(prefix.length)) >>> 0;
    return [first, first + 2 ** (32 - prefix.length) - 1];
  }
}
