import type { AddressFamily } from '@tollway/schema';
import { RouteDump } from '../agent/routes.js';
import { tablesByNumber } from '../compiler/table-names.js';
import { interfaceName, interfaceNames, interfacesOf } from '../snapshot/interfaces.js';
import { type ConfigSnapshot, rowsOf } from '../snapshot/snapshot.js';
import { MAIN_VRF, VRFS, vrfNames } from '../snapshot/vrfs.js';
import type { LiveState } from '../state/live-state.js';
import type { ReadLive } from './live-rows.js';
import { loopFinder, type RoutingZones, whyUnused } from './route-hints.js';
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
      const tables = tablesByNumber(snapshot, invalid);
      const zones = routingZones(snapshot, family);
      const loopOf = loopFinder(rows, family, zones);
      const value = (id: number, property: string): string | undefined => {
        const place = dump.placeOf(id);
        const active = place !== undefined && dump.active(place);
        const row = byId.get(id);
        switch (property) {
          case 'static':
            return 'true';
          case 'active':
            return known && yesNo(active);
          case 'inactive':
            return known && yesNo(!active && row?.disabled !== true);
          case 'ecmp':
            return place !== undefined && dump.ecmp(place) ? 'true' : undefined;
          case 'hint':
            // An invalid route is not sent to the data plane, for instance when its gateway is the router itself.
            if (place === undefined) return invalid.get(id);
            if (active) return undefined;
            return (row && loopOf(row)) ?? whyUnused(dump, place, row, { names, tables, zones });
          default:
            return place === undefined ? undefined : immediateGateway(dump, place, names);
        }
      };
      return {
        values: { properties: ['static', 'active', 'inactive', 'ecmp', 'immediate-gw', 'hint'], value },
        below: known === undefined ? UNAVAILABLE_ROWS : new SystemRoutes(known, names, tables),
      };
    };
  };

const NONE = { records: new Uint8Array(0) };

/**
 * The VRFs with the addresses that the router has there, as far as they are configured: neither disabled ones, nor addresses
 * of disabled interfaces.
 */
function routingZones(snapshot: ConfigSnapshot, family: AddressFamily): RoutingZones {
  const disabledInterfaces = new Set(
    interfacesOf(snapshot)
      .filter(({ disabled }) => disabled)
      .map(interfaceName),
  );
  const enabled = rowsOf(snapshot, VRFS).filter(({ disabled }) => !disabled);
  const own = new Map<string, Set<string | undefined>>();
  for (const name of [MAIN_VRF, ...enabled.map(({ values }) => values.name ?? '')]) own.set(name, new Set());
  const vrfOf = vrfNames(snapshot);
  for (const { disabled, values } of rowsOf(snapshot, `/${family}/address`)) {
    if (disabled || values['eui-64'] === 'true' || disabledInterfaces.has(values.interface ?? '')) continue;
    own.get(vrfOf(values.interface))?.add(values.address?.split('/', 1)[0]);
  }
  return own;
}
