import type { Kind } from '../kind.js';
import { parseNetwork } from './address-family.js';
import { ipPrefix } from './ip-prefix.js';
import { ipv6Network } from './ipv6-address.js';

const ACCEPTS = 'an IPv4 prefix a.b.c.d/n, an IPv6 prefix such as 2001:db8::/32, or an address';

const isIpv6 = (text: string): boolean => text.includes(':');
const kindOf = (text: string): Kind => (isIpv6(text) ? ipv6Network : ipPrefix);

/** Network of either family: an address alone is a network of its own. Those of IPv4 come first. */
export const prefixAny: Kind = {
  name: 'prefix-any',
  accepts: ACCEPTS,
  parse: (text) => parseNetwork(text, isIpv6(text) ? 'ipv6' : 'ip', ACCEPTS),
  compare: (a, b) =>
    isIpv6(a) === isIpv6(b) ? (kindOf(a).compare?.(a, b) ?? 0) : Number(isIpv6(a)) - Number(isIpv6(b)),
  range: (value) => kindOf(value).range?.(value),
  filterType: 'address',
  jsonSchema: { type: 'string' },
};
