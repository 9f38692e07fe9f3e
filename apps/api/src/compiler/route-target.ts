import type { RouteOptions, RouteTarget } from '@tollway/dataplane-agent';
import { type AddressFamily, type Nexthop, parseNexthops } from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';
import { type CompileContext, effective, requiredValue } from './context.js';
import { InvalidRow } from './invalid-row.js';
import { tableNumber } from './routing-tables.js';

/** Menu of the routes of a family. */
export const routeMenuOf = (family: AddressFamily): '/ip/route' | '/ipv6/route' => `/${family}/route`;

/** Targets of routes that forward nothing, by the property that says so. */
export const DISCARDS = ['blackhole', 'unreachable', 'prohibit'] as const;

/**
 * Where a route leads. The data plane decides whether a gateway can be reached, as this changes with the links.
 * @param ownOf addresses of the router as packets see them that are looked up in a table
 * @throws InvalidRow for a gateway that is an address of the router
 */
export function routeTarget(
  context: CompileContext,
  row: Row,
  family: AddressFamily,
  ownOf: (table: string) => ReadonlySet<string>,
): RouteTarget {
  const menu = routeMenuOf(family);
  const discard = DISCARDS.find((kind) => effective(menu, row, kind) === 'true');
  if (discard !== undefined) return { kind: discard };
  const text = requiredValue(menu, row, 'gateway');
  const hops = parseNexthops(text, family);
  if (hops === undefined) throw new InvalidRow(`gateway: ${text} is no next hop`);
  const table = requiredValue(menu, row, 'routing-table');
  const gateways = hops.map((hop) => gateway(context, hop, ownOf(hop.table ?? table)));
  const [first] = gateways;
  if (first === undefined) throw new InvalidRow(`gateway: ${text} is no next hop`);
  if (gateways.length > 1 || first.table !== null) return { kind: 'gateways', gateways };
  const { address, interface: through } = first;
  if (address !== null) return { kind: 'gateway', address, interface: through };
  if (through === null) throw new InvalidRow(`gateway: ${text} is no next hop`);
  return { kind: 'interface', interface: through };
}

interface CompiledGateway {
  readonly address: string | null;
  readonly interface: number | null;
  readonly table: number | null;
}

function gateway(context: CompileContext, hop: Nexthop, own: ReadonlySet<string>): CompiledGateway {
  if (hop.address !== undefined && own.has(hop.address)) {
    throw new InvalidRow(`gateway: ${hop.address} is an address of this router itself`);
  }
  return {
    address: hop.address ?? null,
    interface: hop.interface === undefined ? null : context.interfaces.row('gateway', hop.interface),
    table: hop.table === undefined ? null : tableNumber(context, 'gateway', hop.table),
  };
}

/**
 * Options that a route has other than by default; undefined when it has none.
 * @throws InvalidRow for a table that does not exist or is disabled
 */
export function routeOptions(
  context: CompileContext,
  row: Row,
  family: AddressFamily,
): { readonly options?: RouteOptions } {
  const menu = routeMenuOf(family);
  const [scope, targetScope] = [requiredValue(menu, row, 'scope'), requiredValue(menu, row, 'target-scope')];
  const check = effective(menu, row, 'check-gateway');
  const options: RouteOptions = {
    table: tableNumber(context, 'routing-table', requiredValue(menu, row, 'routing-table')),
    scope: Number(scope),
    'target-scope': Number(targetScope),
    'check-gateway': check === 'ping' || check === 'arp' ? check : null,
  };
  const plain =
    options.table === 0 && options.scope === 30 && options['target-scope'] === 10 && options['check-gateway'] === null;
  return plain ? {} : { options };
}
