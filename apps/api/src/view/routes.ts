import type { AddressFamily } from '@tollway/schema';
import { RouteDump } from '../agent/routes.js';
import { interfaceName, interfaceNames, interfacesOf } from '../snapshot/interfaces.js';
import { type Row, rowsOf } from '../snapshot/snapshot.js';
import type { LiveState } from '../state/live-state.js';
import type { ReadLive } from './live-rows.js';
import { loopOf, whyUnused } from './route-hints.js';
import { UNAVAILABLE_ROWS, yesNo } from './rows.js';
import { immediateGateway, SystemRoutes } from './system-routes.js';

/**
 * States of the static routes, followed by the connected routes, which follow from addresses, and the routes of other
 * programs.
 */
export const readRoutes =
  (live: LiveState, family: AddressFamily): ReadLive =>
  async (maxAgeMs) => {
    const known = await live.routes(family, maxAgeMs);
    const dump = known ?? new RouteDump(NONE, family);
    return ({ snapshot, invalid, rows }) => {
      const names = interfaceNames(snapshot);
      const byId = new Map(rows.map((row) => [row.id, row]));
      const own = ownAddresses(rowsOf(snapshot, `/${family}/address`), interfacesOf(snapshot));
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
              : (loopOf(byId.get(id), rows, family) ?? whyUnused(dump, place, byId.get(id), names, own));
          default:
            return place === undefined ? undefined : immediateGateway(dump, place, names);
        }
      };
      return {
        values: { properties: ['static', 'active', 'inactive', 'ecmp', 'immediate-gw', 'hint'], value },
        below: known === undefined ? UNAVAILABLE_ROWS : new SystemRoutes(known, names),
      };
    };
  };

const NONE = { records: new Uint8Array(0) };

/**
 * Addresses that the router has, as far as they are configured: neither disabled ones, nor addresses of disabled
 * interfaces.
 */
function ownAddresses(addresses: readonly Row[], interfaces: readonly Row[]): ReadonlySet<string | undefined> {
  const disabledInterfaces = new Set(interfaces.filter(({ disabled }) => disabled).map(interfaceName));
  const has = ({ disabled, values }: Row) =>
    !disabled && values['eui-64'] !== 'true' && !disabledInterfaces.has(values.interface ?? '');
  return new Set(addresses.filter(has).map(({ values }) => values.address?.split('/', 1)[0]));
}
