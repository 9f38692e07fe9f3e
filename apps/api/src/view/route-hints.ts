import {
  type AddressFamily,
  addressNumber,
  isLinkLocal,
  type Network,
  networkOf,
  parseNexthops,
} from '@tollway/schema';
import type { RouteDump } from '../agent/routes.js';
import { MAIN_TABLE } from '../compiler/table-names.js';
import type { Row } from '../snapshot/snapshot.js';
import { MAIN_VRF } from '../snapshot/vrfs.js';

/** Interfaces by row. */
export type Names = ReadonlyMap<number, string | undefined>;

/** VRFs by name, `main` among them, with the addresses of the router in each. */
export type RoutingZones = ReadonlyMap<string, ReadonlySet<string | undefined>>;

/** What a route is seen with. */
interface Surroundings {
  readonly names: Names;
  /** Names of routing tables, by number. */
  readonly tables: readonly string[];
  readonly zones: RoutingZones;
}

/** The VRF whose networks and own addresses a table is resolved by. */
const zoneOf = (zones: RoutingZones, table: string): string => (zones.has(table) ? table : MAIN_VRF);

const tableOf = ({ values }: Pick<Row, 'values'>): string => values['routing-table'] ?? MAIN_TABLE;

/** Destination that a route has by default. */
const EVERYTHING: Readonly<Record<AddressFamily, string>> = { ip: '0.0.0.0/0', ipv6: '::/0' };

const noLink = (name: string, family: AddressFamily): string =>
  `the interface ${name} has no link${family === 'ip' ? '' : ', no IPv6 address,'} or is disabled`;

/** Reason why the data plane does not use a configured route. */
export function whyUnused(
  dump: RouteDump,
  place: number,
  row: Row | undefined,
  seen: Surroundings,
): string | undefined {
  if (dump.discards(place) || dump.interface(place) !== 0) {
    return `another route to ${dump.destination(place)} is preferred`;
  }
  const reasons = (parseNexthops(row?.values.gateway ?? '', dump.family) ?? []).map((hop) => {
    if (hop.address === undefined) {
      return hop.interface === undefined ? undefined : noLink(hop.interface, dump.family);
    }
    const table = hop.table ?? (row === undefined ? MAIN_TABLE : tableOf(row));
    return whyNoWay(dump, hop.address, hop.interface, row?.values, { ...seen, zone: zoneOf(seen.zones, table) });
  });
  return [...new Set(reasons.filter((reason) => reason !== undefined))].join('; ') || undefined;
}

/** A configured route that may lead to gateways. */
interface Leading {
  readonly row: Row;
  readonly table: string;
  readonly scope: number;
  readonly network: Network;
}

/**
 * Tells of routes whether they lead to their own gateways, in the words of a hint; only routes without a connected gateway do.
 * What is found out about one route is known for all that lead to it.
 */
export function loopFinder(
  rows: readonly Row[],
  family: AddressFamily,
  zones: RoutingZones,
): (row: Row) => string | undefined {
  const leading = (row: Row): Leading[] => {
    const network = networkOf(row.values['dst-address'] ?? EVERYTHING[family], family);
    if (row.disabled || row.values.gateway === undefined || network === undefined) return [];
    return [{ row, network, table: tableOf(row), scope: Number(row.values.scope ?? '30') }];
  };
  // Only when a route is not used.
  let all: readonly Leading[] | undefined;
  const nextOf = new Map<Row, Row | undefined>();
  const next = (row: Row): Row | undefined => {
    all ??= rows.flatMap(leading);
    if (!nextOf.has(row)) nextOf.set(row, leadingTo(row, all, family, zones));
    return nextOf.get(row);
  };
  const free = new Set<Row>();
  return (row) => {
    const chain = new Set<Row>();
    let now: Row | undefined = row;
    while (now !== undefined && !free.has(now)) {
      if (chain.has(now)) return loopText([...chain], now, family);
      chain.add(now);
      now = next(now);
    }
    for (const each of chain) free.add(each);
    return undefined;
  };
}

/** A chain of routes whose last one is looked up by `again`, one of them. */
function loopText(chain: readonly Row[], again: Row, family: AddressFamily): string {
  const through = chain.slice(chain.indexOf(again)).map(({ values }) => values['dst-address'] ?? EVERYTHING[family]);
  return chain[0] === again
    ? `recursion loop: the gateway is looked up by the route itself${through.length > 1 ? `, through ${through.slice(1).join(', ')}` : ''}`
    : `recursion loop: the gateway is looked up by routes that need each other: ${through.join(', ')}`;
}

/** The configured route by which the first gateway of another one is looked up. */
function leadingTo(
  { values }: Row,
  leading: readonly Leading[],
  family: AddressFamily,
  zones: RoutingZones,
): Row | undefined {
  const [hop] = parseNexthops(values.gateway ?? '', family) ?? [];
  const isPlain = hop?.interface === undefined && hop?.address !== undefined;
  const address = isPlain ? addressNumber(hop.address, family) : undefined;
  if (address === undefined) return undefined;
  const own = hop?.table ?? tableOf({ values });
  const seesMain = zoneOf(zones, own) === MAIN_VRF;
  const targetScope = Number(values['target-scope'] ?? '10');
  let best: Leading | undefined;
  for (const each of leading) {
    const { table, scope, network } = each;
    if (scope > targetScope || address < network.first || address > network.last) continue;
    if (table !== own && !(seesMain && table === MAIN_TABLE)) continue;
    // Of equal prefixes that of the table itself leads to the gateway, before that of the main table, which VRFs do not see.
    const longer = network.length - (best?.network.length ?? -1);
    if (longer > 0 || (longer === 0 && table === own && best?.table !== own)) best = each;
  }
  return best?.row;
}

/** Reason why a gateway is not used. */
function whyNoWay(
  dump: RouteDump,
  gateway: string,
  through: string | undefined,
  values: Row['values'] | undefined,
  { names, tables, zones, zone }: Surroundings & { readonly zone: string },
): string | undefined {
  const address = addressNumber(gateway, dump.family) ?? 0n;
  if (zones.get(zone)?.has(gateway)) return `the gateway ${gateway} is an address of this router`;
  let behind: string | undefined;
  let connected = false;
  for (let place = 0; place < dump.firstStatic; place += 1) {
    if (tables[dump.table(place)] !== zone) continue;
    const network = dump.network(place);
    if (address < network.first || address > network.last) continue;
    // Networks of two addresses have no broadcast address (RFC 3021), those of IPv6 never.
    if (dump.family === 'ip' && address === network.last && network.length < 31) {
      return `the gateway ${gateway} is the broadcast address of ${dump.destination(place)}`;
    }
    const name = names.get(dump.interface(place));
    if (through === undefined || through === name) {
      behind ??= name;
      connected ||= dump.active(place);
    }
  }
  if (dump.family === 'ipv6' && isLinkLocal(address)) {
    behind = through;
    connected = true;
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
    `the gateway ${gateway} is in none of the networks ${zone === MAIN_VRF ? '' : `of the VRF ${zone} `}that the router has an address in${where}, and no other ` +
    `route with a scope of at most ${values?.['target-scope'] ?? '10'} leads to it`
  );
}
