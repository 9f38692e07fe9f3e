import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { rowsOf } from '../../snapshot/snapshot.js';
import { interfacesOfVrf, VRFS } from '../../snapshot/vrfs.js';
import type { MenuModule } from '../module.js';

/** A VRF shares its name with no routing table, and its interfaces with no other VRF. */
function checkVrf({ values, others, snapshot }: ProposedRow): FieldError | undefined {
  const { name } = values;
  if (name !== undefined && rowsOf(snapshot, '/routing/table').some((table) => table.values.name === name)) {
    return fieldError(
      'name',
      `failure: already have routing table with such name: ${name} (value of name must be unique)`,
    );
  }
  for (const own of interfacesOfVrf({ values })) {
    const vrf = others.all().find((other) => interfacesOfVrf(other).includes(own));
    if (vrf !== undefined) {
      return fieldError(
        'interfaces',
        `value of interfaces: ${own} is in the VRF ${vrf.values.name} already; an interface is in one VRF at most`,
      );
    }
  }
  return undefined;
}

/** Its table is compiled with those of `/routing/table`, its zone with each interface. */
export const ipVrf: MenuModule = {
  path: VRFS,
  check: checkVrf,
};
