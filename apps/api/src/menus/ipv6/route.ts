import type { Route, RouteTarget } from '@tollway/dataplane-agent';
import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import { ipv6Prefix, ipv6Text, isLinkLocal, parseIpv6Nexthop } from '@tollway/schema';
import { Ipv6RouteDump } from '../../agent/ipv6-routes.js';
import { type CompileContext, effective, requiredValue } from '../../compiler/context.js';
import { InvalidRow } from '../../compiler/invalid-row.js';
import { compileIpv6Addresses } from '../../compiler/ipv6-addresses.js';
import { noIpv6Host } from '../../config/checks/addresses.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { interfaceNames } from '../../snapshot/interfaces.js';
import { type Row, rowIdText } from '../../snapshot/snapshot.js';
import type { LiveState } from '../../state/live-state.js';
import type { ReadLive } from '../../view/live-rows.js';
import { ArrayRows, type RestRow, UNAVAILABLE_ROWS, yesNo } from '../../view/rows.js';
import type { MenuModule } from '../module.js';

const MENU = '/ipv6/route';

function checkRoute({ values, menu }: ProposedRow): FieldError | undefined {
  const { gateway, blackhole } = values;
  const accepts = menu.props.gateway?.kind.accepts;
  if (gateway === undefined && blackhole !== 'true') {
    return fieldError('gateway', `gateway is required: ${accepts}; or set blackhole`);
  }
  if (gateway !== undefined && blackhole === 'true') {
    return fieldError('blackhole', 'value of blackhole: a route has either a gateway or blackhole; unset one of them');
  }
  const { address, interface: through } = parseIpv6Nexthop(gateway ?? '') ?? {};
  if (address === undefined) return undefined;
  const reason = noIpv6Host(address);
  if (reason) return fieldError('gateway', `value of gateway: ${ipv6Text(address)} is ${reason}; give ${accepts}`);
  if (isLinkLocal(address) && through === undefined) {
    return fieldError(
      'gateway',
      `value of gateway: ${ipv6Text(address)} is a link-local address, which each link may have; give ${ipv6Text(address)}%interface`,
    );
  }
  return undefined;
}

/** Static routes. The data plane decides whether a gateway can be reached, as this changes with the links. */
function compileRoutes(context: CompileContext): Route[] {
  const addresses = context.once(compileIpv6Addresses);
  const own = new Set(addresses.flatMap(({ address, ipv6 }) => (ipv6?.['eui-64'] === true ? [] : [address])));
  // Of addresses that are made from the interface only the network is known here.
  const networks = new Set(addresses.flatMap(({ network, ipv6 }) => (ipv6?.['eui-64'] === true ? [network] : [])));
  return context.translate(MENU, (row) => {
    const text = requiredValue(MENU, row, 'dst-address');
    const prefix = ipv6Prefix(text);
    if (!prefix) throw new InvalidRow(`dst-address: ${text} is no prefix`);
    const source = effective(MENU, row, 'pref-src');
    const network = ipv6Prefix(`${source}/64`)?.address;
    if (source !== undefined && !own.has(source) && (network === undefined || !networks.has(ipv6Text(network)))) {
      throw new InvalidRow(`pref-src: ${source} is no enabled address of this router; give one of those, or unset it`);
    }
    return {
      row: row.id,
      destination: ipv6Text(prefix.address),
      'prefix-len': prefix.length,
      distance: Number(requiredValue(MENU, row, 'distance')),
      target: target(context, row, own),
      'pref-src': source ?? null,
    };
  });
}

function target(context: CompileContext, row: Row, own: ReadonlySet<string>): RouteTarget {
  if (effective(MENU, row, 'blackhole') === 'true') return { kind: 'blackhole' };
  const gateway = requiredValue(MENU, row, 'gateway');
  const hop = parseIpv6Nexthop(gateway);
  const through = hop?.interface === undefined ? undefined : context.interfaces.row('gateway', hop.interface);
  if (hop?.address !== undefined) {
    const address = ipv6Text(hop.address);
    if (own.has(address)) throw new InvalidRow(`gateway: ${address} is an address of this router itself`);
    return { kind: 'gateway', address, interface: through ?? null };
  }
  // parseIpv6Nexthop returns an address, an interface or both.
  if (through === undefined) throw new InvalidRow(`gateway: ${gateway} is no next hop`);
  return { kind: 'interface', interface: through };
}

type Names = ReadonlyMap<number, string | undefined>;

const NO_ROUTES = new Ipv6RouteDump({ records: new Uint8Array(0) });

/** States of the static routes, followed by the connected ones, which follow from addresses. */
const readRoutes =
  (live: LiveState): ReadLive =>
  async (maxAgeMs) => {
    const known = await live.ipv6Routes(maxAgeMs);
    const dump = known ?? NO_ROUTES;
    return ({ snapshot, invalid, rows }) => {
      const names = interfaceNames(snapshot);
      const byId = new Map(rows.map((row) => [row.id, row]));
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
            return active ? undefined : whyUnused(dump, place, byId.get(id), names);
          default:
            return place === undefined ? undefined : immediateGateway(dump, place, names);
        }
      };
      return {
        values: { properties: ['static', 'active', 'inactive', 'immediate-gw', 'hint'], value },
        below: known === undefined ? UNAVAILABLE_ROWS : new ArrayRows(connectedRows(known, names)),
      };
    };
  };

function immediateGateway(dump: Ipv6RouteDump, place: number, names: Names): string | undefined {
  const name = names.get(dump.interface(place));
  if (name === undefined) return undefined;
  const gateway = dump.gateway(place);
  return gateway === undefined ? name : `${gateway}%${name}`;
}

/** Reason why the data plane does not use a configured route. */
function whyUnused(dump: Ipv6RouteDump, place: number, row: Row | undefined, names: Names): string | undefined {
  if (dump.blackhole(place) || dump.interface(place) !== 0) {
    return `another route to ${dump.destination(place)} is preferred`;
  }
  const { address, interface: through } = parseIpv6Nexthop(row?.values.gateway ?? '') ?? {};
  if (address === undefined || (through !== undefined && isLinkLocal(address))) {
    return through === undefined ? undefined : `the interface ${through} has no link, no IPv6 address, or is disabled`;
  }
  const gateway = ipv6Text(address);
  for (let network = 0; network < dump.firstStatic; network += 1) {
    const name = names.get(dump.interface(network));
    const isInside = address >= dump.first(network) && address <= dump.last(network);
    if (isInside && (through === undefined || through === name)) {
      return `the interface ${name}, behind which the gateway ${gateway} is, has no link or is disabled; or the address is the router's own`;
    }
  }
  const where = through === undefined ? '' : ` on ${through}`;
  return `the gateway ${gateway} is in none of the networks that the router has an address in${where}`;
}

/** Connected routes. There is one for each network of the router. */
function connectedRows(dump: Ipv6RouteDump, names: Names): readonly RestRow[] {
  return Array.from({ length: dump.firstStatic }, (_, place) => {
    const name = names.get(dump.interface(place));
    return {
      '.id': rowIdText(FIRST_DYNAMIC_ROW + dump.row(place)),
      'dst-address': dump.destination(place),
      ...(name !== undefined && { gateway: name, 'immediate-gw': name }),
      distance: String(dump.distance(place)),
      disabled: 'false',
      dynamic: 'true',
      active: yesNo(dump.active(place)),
      inactive: yesNo(!dump.active(place)),
      connect: 'true',
    };
  });
}

export const ipv6Route: MenuModule = {
  path: MENU,
  compile: (context) => ({ routes: compileRoutes(context) }),
  check: checkRoute,
  liveRows: ({ live }) => readRoutes(live),
};
