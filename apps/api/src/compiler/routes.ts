import type { InterfaceAddress, Route } from '@tollway/dataplane-agent';
import { type AddressFamily, addressNumber, addressText, networkOf } from '@tollway/schema';
import { VRFS } from '../snapshot/vrfs.js';
import { compileAddresses } from './addresses.js';
import { type CompileContext, effective, requiredValue } from './context.js';
import { InvalidRow } from './invalid-row.js';
import { compileIpv6Addresses } from './ipv6-addresses.js';
import { routeMenuOf, routeOptions, routeTarget } from './route-target.js';
import { vrfsByInterfaceRow } from './vrfs.js';

/** Lower half of an IPv6 address. */
const INTERFACE_ID = 64n;

/** Static routes of a family. */
export function compileRoutes(context: CompileContext, family: AddressFamily): Route[] {
  const menu = routeMenuOf(family);
  const addresses = context.once(family === 'ip' ? compileAddresses : compileIpv6Addresses);
  const ownOf = ownByTable(context, addresses, family);
  return context.translate(menu, (row) => {
    const text = requiredValue(menu, row, 'dst-address');
    const destination = networkOf(text, family);
    if (destination === undefined) throw new InvalidRow(`dst-address: ${text} is no prefix`);
    const source = effective(menu, row, 'pref-src');
    const number = source === undefined ? undefined : addressNumber(source, family);
    const { own, made } = ownOf(requiredValue(menu, row, 'routing-table'));
    const isOwn =
      source === undefined || own.has(source) || made.has(number && (number >> INTERFACE_ID) << INTERFACE_ID);
    if (!isOwn) {
      throw new InvalidRow(`pref-src: ${source} is no enabled address of this router; give one of those, or unset it`);
    }
    return {
      row: row.id,
      destination: addressText(destination.first, family),
      'prefix-len': destination.length,
      distance: Number(requiredValue(menu, row, 'distance')),
      target: routeTarget(context, row, family, (table) => ownOf(table).own),
      'pref-src': source ?? null,
      ...routeOptions(context, row, family),
    };
  });
}

/** Addresses of the router within a VRF, or outside of all. */
interface OwnAddresses {
  readonly own: ReadonlySet<string>;
  /** Networks of addresses that are made from the interface: only these are known here. */
  readonly made: ReadonlySet<bigint | undefined>;
}

/** Addresses of the router as packets see them that are looked up in a table. */
function ownByTable(
  context: CompileContext,
  addresses: readonly InterfaceAddress[],
  family: AddressFamily,
): (table: string) => OwnAddresses {
  const vrfs = context.once(vrfsByInterfaceRow);
  const isMade = ({ ipv6 }: InterfaceAddress) => ipv6?.['eui-64'] === true;
  const within = (vrf: string | undefined): OwnAddresses => {
    const inside = addresses.filter((each) => vrfs.get(each.interface)?.values.name === vrf);
    return {
      own: new Set(inside.flatMap((each) => (isMade(each) ? [] : [each.address]))),
      made: new Set(inside.flatMap((each) => (isMade(each) ? [addressNumber(each.network, family)] : []))),
    };
  };
  const names = new Set(context.enabled(VRFS).map(({ values }) => values.name));
  const known = new Map<string | undefined, OwnAddresses>();
  return (table) => {
    const vrf = names.has(table) ? table : undefined;
    const found = known.get(vrf) ?? within(vrf);
    known.set(vrf, found);
    return found;
  };
}
