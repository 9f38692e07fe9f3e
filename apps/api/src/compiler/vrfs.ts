import type { InterfaceAddress, RoutingTable } from '@tollway/dataplane-agent';
import { interfaceName } from '../snapshot/interfaces.js';
import type { Row } from '../snapshot/snapshot.js';
import { VRFS, vrfsByInterface } from '../snapshot/vrfs.js';
import { type CompileContext, requiredValue } from './context.js';
import { InvalidRow } from './invalid-row.js';

/** Numbers of zones: they are 16 bits wide, and 0 is that of the interfaces in no VRF. */
const ZONES = 0xffff;

/**
 * Zones of the VRFs, by row. A VRF keeps its zone whatever becomes of the others, as its connections are known by it: the
 * number follows from that of the row.
 */
function zonesOf(context: CompileContext): ReadonlyMap<number, number> {
  const zones = new Map<number, number>();
  const taken = new Set<number>();
  const ids = context.enabled(VRFS).map(({ id }) => id);
  for (const id of ids.sort((a, b) => a - b)) {
    let zone = (id % ZONES) + 1;
    while (taken.has(zone) && taken.size < ZONES) zone = (zone % ZONES) + 1;
    taken.add(zone);
    zones.set(id, zone);
  }
  return zones;
}

const byInterface = ({ snapshot }: CompileContext): ReadonlyMap<string, Row> => vrfsByInterface(snapshot);

/** Zone of an interface: that of its VRF, or 0. */
export function zoneOf(context: CompileContext, row: Row): number {
  const vrf = context.once(byInterface).get(interfaceName(row));
  return vrf === undefined ? 0 : (context.once(zonesOf).get(vrf.id) ?? 0);
}

/** The tables of the VRFs. */
export const compileVrfs = (context: CompileContext): RoutingTable[] =>
  context.translate(VRFS, (row) => {
    const name = requiredValue(VRFS, row, 'name');
    return { row: row.id, name, mark: context.marks.of(name), fib: true, zone: context.once(zonesOf).get(row.id) ?? 0 };
  });

/** The VRF that an address is in, by the row of its interface; undefined for none. */
export function vrfsByInterfaceRow(context: CompileContext): ReadonlyMap<number, Row> {
  const vrfs = context.once(byInterface);
  return new Map(
    [...vrfs].flatMap(([name, vrf]) => {
      const row = context.interfaces.find(name);
      return row === undefined ? [] : [[row, vrf] as const];
    }),
  );
}

/**
 * Refuses addresses that are there twice in a VRF, or outside of all, which happens as interfaces come into VRFs and leave
 * them: the first is used.
 */
export function onceInEachVrf(context: CompileContext): (address: InterfaceAddress) => InterfaceAddress {
  const vrfs = context.once(vrfsByInterfaceRow);
  const seen = new Set<string>();
  return (address) => {
    const vrf = vrfs.get(address.interface)?.values.name;
    const key = `${vrf ?? ''} ${address.address}`;
    if (seen.has(key)) {
      throw new InvalidRow(
        `address: another interface ${vrf === undefined ? 'in no VRF' : `in ${vrf}`} has ${address.address}`,
      );
    }
    seen.add(key);
    return address;
  };
}
