import type { Route } from '@tollway/dataplane-agent';
import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import { ipv4, ipv4Mask, ipv4Prefix, ipv4Text, parseNexthops } from '@tollway/schema';
import { RouteDump } from '../../agent/routes.js';
import { compileAddresses } from '../../compiler/addresses.js';
import { type CompileContext, effective, requiredValue } from '../../compiler/context.js';
import { InvalidRow } from '../../compiler/invalid-row.js';
import { DISCARDS, routeOptions, routeTarget } from '../../compiler/route-target.js';
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
  const { gateway } = values;
  const accepts = menu.props.gateway?.kind.accepts;
  const discards = DISCARDS.filter((kind) => values[kind] === 'true');
  const [discard, other] = discards;
  if (gateway === undefined && discard === undefined) {
    return fieldError('gateway', `gateway is required: ${accepts}; or set ${DISCARDS.join(', ')}`);
  }
  if (discard !== undefined && (gateway !== undefined || other !== undefined)) {
    const what = other ?? 'a gateway';
    return fieldError(discard, `value of ${discard}: a route has either ${what} or ${discard}; unset one of them`);
  }
  for (const { address } of gateway === undefined ? [] : (parseNexthops(gateway) ?? [])) {
    const number = address === undefined ? undefined : ipv4(address);
    const reason = number === undefined ? undefined : noHost(number);
    if (reason !== undefined) {
      return fieldError('gateway', `value of gateway: ${address} is ${reason}; give ${accepts}`);
    }
  }
  return undefined;
}

/** Static routes. */
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
      target: routeTarget(context, row, 'ip', own),
      'pref-src': prefSrc ?? null,
      ...routeOptions(row, 'ip'),
    };
  });
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
          case 'ecmp':
            return place !== undefined && dump.ecmp(place) ? 'true' : undefined;
          case 'hint':
            // An invalid route is not sent to the data plane, for instance when its gateway is the router itself.
            if (place === undefined) return invalid.get(id);
            return active
              ? undefined
              : (loopOf(byId.get(id), rows) ?? whyUnused(dump, place, byId.get(id), names, own));
          default:
            return place === undefined ? undefined : immediateGateway(dump, place, names);
        }
      };
      return {
        values: { properties: ['static', 'active', 'inactive', 'ecmp', 'immediate-gw', 'hint'], value },
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

/** Neighbours and interfaces of all next hops of a route. */
function immediateGateway(dump: RouteDump, place: number, names: Names): string | undefined {
  const hops: string[] = [];
  for (let at = place; at < dump.count && (at === place || dump.further(at)); at += 1) {
    const name = names.get(dump.interface(at));
    if (name === undefined) continue;
    const gateway = dump.gateway(at);
    hops.push(gateway === undefined ? name : `${gateway}%${name}`);
  }
  return hops.length === 0 ? undefined : hops.join(',');
}

/** Reason why the data plane does not use a configured route. @param own addresses of the router */
function whyUnused(
  dump: RouteDump,
  place: number,
  row: Row | undefined,
  names: Names,
  own: ReadonlySet<string | undefined>,
): string | undefined {
  if (dump.discards(place) || dump.interface(place) !== 0) {
    return `another route to ${dump.destination(place)} is preferred`;
  }
  const reasons = (parseNexthops(row?.values.gateway ?? '') ?? []).map((hop) => {
    if (hop.address === undefined) {
      return hop.interface === undefined ? undefined : `the interface ${hop.interface} has no link or is disabled`;
    }
    return whyNoWay(dump, hop.address, hop.interface, row?.values, names, own);
  });
  return [...new Set(reasons.filter((reason) => reason !== undefined))].join('; ') || undefined;
}

/** Whether routes lead to their own gateways, in the words of a hint; only routes without a connected gateway do. */
function loopOf(row: Row | undefined, rows: readonly Row[]): string | undefined {
  if (row === undefined) return undefined;
  const chain: Row[] = [row];
  for (let now = row; chain.length <= rows.length; ) {
    const next = leadingTo(now, rows);
    if (next === undefined) return undefined;
    if (chain.includes(next)) {
      const through = chain.slice(chain.indexOf(next)).map(({ values }) => values['dst-address'] ?? '0.0.0.0/0');
      return chain[0] === next
        ? `recursion loop: the gateway is looked up by the route itself${through.length > 1 ? `, through ${through.slice(1).join(', ')}` : ''}`
        : `recursion loop: the gateway is looked up by routes that need each other: ${through.join(', ')}`;
    }
    chain.push(next);
    now = next;
  }
  return undefined;
}

/** The configured route by which the first gateway of another one is looked up. */
function leadingTo({ values }: Row, rows: readonly Row[]): Row | undefined {
  const [hop] = parseNexthops(values.gateway ?? '') ?? [];
  const address = hop?.interface === undefined && hop?.address !== undefined ? ipv4(hop.address) : undefined;
  if (address === undefined) return undefined;
  let best: { readonly row: Row; readonly length: number } | undefined;
  for (const row of rows) {
    const prefix = ipv4Prefix(row.values['dst-address'] ?? '0.0.0.0/0');
    const leads = !row.disabled && Number(row.values.scope ?? '30') <= Number(values['target-scope'] ?? '10');
    if (prefix === undefined || !leads || row.values.gateway === undefined) continue;
    const mask = ipv4Mask(prefix.length);
    if (((address ^ prefix.address) & mask) === 0 && prefix.length > (best?.length ?? -1)) {
      best = { row, length: prefix.length };
    }
  }
  return best?.row;
}

/** Reason why a gateway is not used. */
function whyNoWay(
  dump: RouteDump,
  gateway: string,
  through: string | undefined,
  values: Row['values'] | undefined,
  names: Names,
  own: ReadonlySet<string | undefined>,
): string | undefined {
  const address = ipv4(gateway) ?? 0;
  if (own.has(gateway)) return `the gateway ${gateway} is an address of this router`;
  let behind: string | undefined;
  let connected = false;
  for (let network = 0; network < dump.firstStatic; network += 1) {
    if (address < dump.first(network) || address > dump.last(network)) continue;
    // Networks of two addresses have no broadcast address (RFC 3021).
    if (address === dump.last(network) && dump.last(network) - dump.first(network) > 1) {
      return `the gateway ${gateway} is the broadcast address of ${dump.destination(network)}`;
    }
    const name = names.get(dump.interface(network));
    if (through === undefined || through === name) {
      behind ??= name;
      connected ||= dump.active(network);
    }
  }
  const checked = values?.['check-gateway'];
  if ((checked === 'ping' || checked === 'arp') && (connected || behind === undefined)) {
    return `the gateway ${gateway} does not answer, or no route with a scope of at most target-scope leads to it`;
  }
  if (behind !== undefined) {
    return `the interface ${behind}, behind which the gateway ${gateway} is, has no link or is disabled`;
  }
  const where = through === undefined ? '' : ` on ${through}`;
  return (
    `the gateway ${gateway} is in none of the networks that the router has an address in${where}, and no other ` +
    `route with a scope of at most ${values?.['target-scope'] ?? '10'} leads to it`
  );
}

type Reader = (dump: RouteDump, place: number, names: Names) => string | undefined;

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
