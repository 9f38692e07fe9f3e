import type { InterfaceAddress } from '@tollway/dataplane-agent';
import { ipv6, ipv6Prefix, ipv6Text, isAdvertisable, isLinkLocal } from '@tollway/schema';
import { type CompileContext, effective, requiredValue } from './context.js';
import { InvalidRow } from './invalid-row.js';
import { onceInEachVrf } from './vrfs.js';

const MENU = '/ipv6/address';

/** IPv6 addresses of the router, each with its connected network. */
export function compileIpv6Addresses(context: CompileContext): InterfaceAddress[] {
  const once = onceInEachVrf(context);
  return context.translate(MENU, (row) => {
    const text = requiredValue(MENU, row, 'address');
    const address = ipv6(text.split('/', 1)[0] ?? '');
    const network = ipv6Prefix(text);
    if (address === undefined || network === undefined) {
      throw new InvalidRow(`address: ${text} is no address with prefix length`);
    }
    const advertise = effective(MENU, row, 'advertise');
    const options = {
      'eui-64': effective(MENU, row, 'eui-64') === 'true',
      'no-dad': effective(MENU, row, 'no-dad') === 'true',
      advertise: advertise === undefined ? isAdvertisable(text) : advertise === 'true',
    };
    const compiled: InterfaceAddress = {
      row: row.id,
      interface: context.interfaces.row('interface', requiredValue(MENU, row, 'interface')),
      address: ipv6Text(options['eui-64'] ? network.address : address),
      'prefix-len': network.length,
      network: ipv6Text(network.address),
      // The data plane leaves defaults out, too.
      ...(Object.values(options).includes(true) && { ipv6: options }),
    };
    // Several interfaces may have a link-local address, and only the network of one that is made is known here.
    return options['eui-64'] || isLinkLocal(address) ? compiled : once(compiled);
  });
}
