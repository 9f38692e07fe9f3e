import type { Kind } from '../kind.js';
import { parseNetwork } from './address-family.js';
import { addresses, ipv4Prefix, ipv4Text } from './ip.js';
import { quoted } from './quoted.js';

const ACCEPTS = 'an IPv4 prefix a.b.c.d/n with n 0..32';

/** Network: a bare address is a /32. */
export const ipPrefix: Kind = {
  name: 'ip-prefix',
  accepts: ACCEPTS,
  parse: (text) => parseNetwork(text, 'ip', ACCEPTS),
  ...addresses,
  widest: '200.200.200.200',
  jsonSchema: { type: 'string' },
};

const IFACE_ACCEPTS = 'an IPv4 address with prefix length a.b.c.d/n with n 0..32';

/** Address of the router with its prefix length: host bits are kept. */
export const ipIfacePrefix: Kind = {
  name: 'ip-iface-prefix',
  accepts: IFACE_ACCEPTS,
  parse(text) {
    const prefix = ipv4Prefix(text);
    if (!prefix) return { ok: false, error: `${quoted(text)} is not ${IFACE_ACCEPTS}` };
    return { ok: true, value: `${ipv4Text(prefix.address)}/${prefix.length}` };
  },
  ...addresses,
  jsonSchema: { type: 'string' },
};
