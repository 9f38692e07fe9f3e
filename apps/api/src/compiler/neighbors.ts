import type { StaticNeighbor } from '@tollway/dataplane-agent';
import { interfaceRow } from './addresses.js';
import { type CompileContext, needed } from './context.js';

const MENU = '/ip/arp';

/** Static ARP entries. */
export function compileNeighbors(context: CompileContext): StaticNeighbor[] {
  return context.translate(MENU, (row) => ({
    row: row.id,
    interface: interfaceRow(context, needed(MENU, row, 'interface')),
    address: needed(MENU, row, 'address'),
    'mac-address': needed(MENU, row, 'mac-address').toLowerCase(),
    published: needed(MENU, row, 'published') === 'true',
  }));
}
