import type { StaticNeighbor } from '@tollway/dataplane-agent';
import { type CompileContext, effective, requiredValue } from './context.js';

/** Static neighbours of the menu of a family. Only of IPv4 can an entry be published. */
export const compileNeighbors = (context: CompileContext, menu: '/ip/arp' | '/ipv6/neighbor'): StaticNeighbor[] =>
  context.translate(menu, (row) => ({
    row: row.id,
    interface: context.interfaces.row('interface', requiredValue(menu, row, 'interface')),
    address: requiredValue(menu, row, 'address'),
    'mac-address': requiredValue(menu, row, 'mac-address').toLowerCase(),
    published: menu === '/ip/arp' && effective(menu, row, 'published') === 'true',
  }));
