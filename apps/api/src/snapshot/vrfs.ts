import { type ConfigSnapshot, type Row, rowsOf } from './snapshot.js';

/** Menu of VRFs. */
export const VRFS = '/ip/vrf';

/** Names of the interfaces in a VRF. */
export const interfacesOfVrf = ({ values }: Pick<Row, 'values'>): readonly string[] =>
  (values.interfaces ?? '').split(',').filter((name) => name !== '');

/** VRFs by the names of their interfaces; an interface that is in none, or in a disabled one, is missing. */
export function vrfsByInterface(snapshot: ConfigSnapshot): ReadonlyMap<string, Row> {
  const enabled = rowsOf(snapshot, VRFS).filter(({ disabled }) => !disabled);
  return new Map(enabled.flatMap((vrf) => interfacesOfVrf(vrf).map((name) => [name, vrf])));
}
