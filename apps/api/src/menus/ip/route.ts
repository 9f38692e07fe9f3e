import type { Route, RouteTarget } from '@tollway/dataplane-agent';
import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import { ipv4Prefix, ipv4Text, parseNexthop } from '@tollway/schema';
import { RouteDump } from '../../agent/routes.js';
import { compileAddresses } from '../../compiler/addresses.js';
import { type CompileContext, effective, requiredValue } from '../../compiler/context.js';
import { InvalidRow } from '../../compiler/invalid-row.js';
import { noHost } from '../../config/checks/addresses.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import type { AddressColumn } from '../../query/membership.js';
import { interfaceName, interfaceNames, interfacesOf } from '../../snapshot/interfaces.js';
import { parseRowId, type Row, rowIdText, rowsOf } from '../../snapshot/snapshot.js';
import type { LiveState } from '../../state/live-state.js';
import type { ReadLive } from '../../view/live-rows.js';
import { type RestRow, type RowSet, UNAVAILABLE_ROWS, yesNo } from '../../view/rows.js';
import type { MenuModule } from '../module.js';

const MENU = '/ip/route';

function checkRoute({ values, menu }: ProposedRow): FieldError | undefined {
  const { gateway, blackhole } = values;
  const accepts = menu.props.gateway?.kind.accepts;
  if (gateway === undefined && blackhole !== 'true') {
    return fieldError('gateway', `gateway is required: ${accepts}; or set blackhole`);
  }
  if (gateway !== undefined && blackhole === 'true') {
    return fieldError('blackhole', 'value of blackhole: a route has either a gateway or blackhole; unset one of them');
  }
  const address = gateway === undefined ? undefined : parseNexthop(gateway)?.address;
  const reason = address === undefined ? undefined : noHost(address);
  if (address !== undefined && reason) {
    return fieldError('gateway', `value of gateway: ${ipv4Text(address)} is ${reason}; give ${accepts}`);
  }
  return undefined;
}

/** Static routes. The data plane decides whether a gateway can be reached, as this changes with the links. */
function compileRoutes(context: CompileContext): Route[] {
  const own = new Set(context.once(compileAddresses).map(({ address }) => address));
  return context.translate(MENU, (row) => {
    const text = requiredValue(MENU, row, 'dst-address');
    const prefix = ipv4Prefix(text);
    if (!prefix) throw new InvalidRow(`dst-address: ${text} is no prefix`);
    const prefSrc = effective(MENU, row, 'pref-src');
    if (prefSrc !== undefined && !own.has(prefSrc)) {
      throw new InvalidRow(`pref-src: ${prefSrc} is no enabled address of this router; give one of those, or unset it`);
    }
    return {
      row: row.id,
      destination: ipv4Text(prefix.address),
      'prefix-len': prefix.length,
      distance: Number(requiredValue(MENU, row, 'distance')),
      target: target(context, row, own),
      'pref-src': prefSrc ?? null,
    };
  });
}

function target(context: CompileContext, row: Row, own: ReadonlySet<string>): RouteTarget {
  if (effective(MENU, row, 'blackhole') === 'true') return { kind: 'blackhole' };
  const gateway = requiredValue(MENU, row, 'gateway');
  const hop = parseNexthop(gateway);
  if (!hop) throw new InvalidRow(`gateway: ${gateway} is no next hop`);
  const through = hop.interface === undefined ? undefined : context.interfaces.row('gateway', hop.interface);
  if (hop.address !== undefined) {
    const address = ipv4Text(hop.address);
    if (own.has(address)) throw new InvalidRow(`gateway: ${address} is an address of this router itself`);
    return { kind: 'gateway', address, interface: through ?? null };
  }
  // parseNexthop returns an address, an interface or both.
  if (through === undefined) throw new InvalidRow(`gateway: ${gateway} is no next hop`);
  return { kind: 'interface', interface: through };
}

/** RouterOS's flags of routing protocols, by their numbers in rtnetlink(7). */
const PROTOCOL_FLAGS: ReadonlyMap<number, string> = new Map([
  [186, 'bgp'],
  [187, 'is-is'],
  [188, 'ospf'],
  [189, 'rip'],
]);

/**
 * States of the static routes, followed by the connected routes, which follow from addresses, and the routes of other
 * programs.
 */
const readRoutes =
  (live: LiveState): ReadLive =>
  async (maxAgeMs) => {
    const known = await live.routes(maxAgeMs);
    const dump = known ?? NO_ROUTES;
    return ({ snapshot, invalid, rows }) => {
      const names = interfaceNames(snapshot);
      const byId = new Map(rows.map((row) => [row.id, row]));
      const own = ownAddresses(rowsOf(snapshot, '/ip/address'), interfacesOf(snapshot));
      const value = (id: number, property: string): string | undefined => {
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
            // An invalid route is not sent to the data plane, for instance when its gateway is the router itself.
            if (place === undefined) return invalid.get(id);
            return active ? undefined : whyUnused(dump, place, byId.get(id), names, own);
          default:
            return place === undefined ? undefined : immediateGateway(dump, place, names);
        }
      };
      return {
        values: { properties: ['static', 'active', 'inactive', 'immediate-gw', 'hint'], value },
        below: known === undefined ? UNAVAILABLE_ROWS : new DynamicRoutes(known, names),
      };
    };
  };

const NO_ROUTES = new RouteDump({ records: new Uint8Array(0) });

/** Addresses that the router has: neither disabled ones, nor addresses of disabled interfaces. */
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

/** Reason why the data plane does not use a configured route. @param own addresses of the router */
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

/** Attributes of another program's route for which RouterOS has no property. */
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

/** Readers of the properties of connected and learned routes. */
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

/** Connected routes, then routes of other programs. There may be a million: each is decoded on access. */
class DynamicRoutes implements RowSet {
  readonly #dump: RouteDump;
  readonly #names: Names;
  readonly #connected: number;
  readonly length: number;

  constructor(dump: RouteDump, names: Names) {
    this.#dump = dump;
    this.#names = names;
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
    return readers[property]?.(this.#dump, this.#place(index), this.#names);
  }

  row(index: number): RestRow {
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
      first: (index) => this.#dump.first(this.#place(index)),
      last: (index) => this.#dump.last(this.#place(index)),
    };
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

export const ipRoute: MenuModule = {
  path: '/ip/route',
  compile: (context) => ({ routes: compileRoutes(context) }),
  check: checkRoute,
  liveRows: ({ live }) => readRoutes(live),
};
