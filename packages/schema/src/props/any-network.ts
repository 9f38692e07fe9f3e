import type { Kind } from '../kind.js';
import { parseNetwork } from './address-family.js';
import { addresses } from './ip.js';

const ACCEPTS = 'an IPv4 prefix a.b.c.d/n with n 0..32, or an IPv6 prefix with n 0..128';

/** Network of either family: a bare address is a /32 or a /128. */
export const anyNetwork: Kind = {
  name: 'any-network',
  accepts: ACCEPTS,
  parse: (text) => parseNetwork(text, text.includes(':') ? 'ipv6' : 'ip', ACCEPTS),
  ...addresses,
  jsonSchema: { type: 'string' },
};
