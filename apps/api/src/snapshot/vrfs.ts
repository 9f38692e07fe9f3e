import { type ConfigSnapshot, type Row, rowsOf } from './snapshot.js';

/** Menu of VRFs. */
export const VRFS = '/ip/vrf';

/** Names of the interfaces in a VRF. */
export const interfacesOfVrf = ({ values }: Pick<Row, 'values'>): readonly string[] =>
  (values.interfaces ?? '').split(',').filter((name) => name !== '');

/** Name of the VRF of the interfaces that are in no other. */
export const MAIN_VRF = 'main';

/** VRFs by the names of their interfaces; an interface that is in none, or in a disabled one, is missing. */
export function vrfsByInterface(snapshot: ConfigSnapshot): ReadonlyMap<string, Row> {
  const enabled = rowsOf(snapshot, VRFS).filter(({ disabled }) => !disabled);
  return new Map(enabled.flatMap((vrf) => interfacesOfVrf(vrf).map((name) => [name, vrf])));
}

/** Names of VRFs by the names of interfaces; `main` for an interface that is in no other. */
export function vrfNames(snapshot: ConfigSnapshot): (name: string | undefined) => string {
  const vrfs = vrfsByInterface(snapshot);
  return (name = '') => vrfs.get(name)?.values.name ?? MAIN_VRF;
}
