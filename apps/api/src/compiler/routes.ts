import type { InterfaceAddress, Route } from '@tollway/dataplane-agent';
import { type AddressFamily, addressNumber, addressText, networkOf } from '@tollway/schema';
import { compileAddresses } from './addresses.js';
import { type CompileContext, effective, requiredValue } from './context.js';
import { InvalidRow } from './invalid-row.js';
import { compileIpv6Addresses } from './ipv6-addresses.js';
import { routeMenuOf, routeOptions, routeTarget } from './route-target.js';

/** Lower half of an IPv6 address. */
const INTERFACE_ID = 64n;

/** Static routes of a family. */
export function compileRoutes(context: CompileContext, family: AddressFamily): Route[] {
  const menu = routeMenuOf(family);
  const addresses = context.once(family === 'ip' ? compileAddresses : compileIpv6Addresses);
  const isMade = ({ ipv6 }: InterfaceAddress) => ipv6?.['eui-64'] === true;
  const own = new Set(addresses.flatMap((each) => (isMade(each) ? [] : [each.address])));
  // Of addresses that are made from the interface only the network is known here.
  const made = new Set(addresses.flatMap((each) => (isMade(each) ? [addressNumber(each.network, family)] : [])));
  return context.translate(menu, (row) => {
    const text = requiredValue(menu, row, 'dst-address');
    const destination = networkOf(text, family);
    if (destination === undefined) throw new InvalidRow(`dst-address: ${text} is no prefix`);
    const source = effective(menu, row, 'pref-src');
    const number = source === undefined ? undefined : addressNumber(source, family);
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
      target: routeTarget(context, row, family, own),
      'pref-src': source ?? null,
      ...routeOptions(context, row, family),
    };
  });
}
