import type { InterfaceAddress } from '@tollway/dataplane-agent';
import { ipv4Mask, ipv4Prefix, ipv4Text } from '@tollway/schema';
import { type CompileContext, effective, requiredValue } from './context.js';
import { InvalidRow } from './invalid-row.js';
import { onceInEachVrf } from './vrfs.js';

const MENU = '/ip/address';

/** Addresses of the router, each with its connected network. */
export function compileAddresses(context: CompileContext): InterfaceAddress[] {
  const once = onceInEachVrf(context);
  return context.translate(MENU, (row) => {
    const text = requiredValue(MENU, row, 'address');
    const prefix = ipv4Prefix(text);
    if (!prefix) throw new InvalidRow(`address: ${text} is no address with prefix length`);
    return once({
      row: row.id,
      interface: context.interfaces.row('interface', requiredValue(MENU, row, 'interface')),
      address: ipv4Text(prefix.address),
      'prefix-len': prefix.length,
      network: effective(MENU, row, 'network') ?? ipv4Text((prefix.address & ipv4Mask(prefix.length)) >>> 0),
    });
  });
}
