import type { Kind } from '../kind.js';
import { addresses, ipv4, ipv4Text } from './ip.js';
import { ipv6, ipv6Text } from './ipv6.js';
import { quoted } from './quoted.js';

const ACCEPTS = 'an IPv4 address a.b.c.d or an IPv6 address';

/** IPv4 or IPv6 address. */
export const ipAny: Kind = {
  name: 'ip-any',
  accepts: ACCEPTS,
  parse(text) {
    const four = ipv4(text);
    if (four !== undefined) return { ok: true, value: ipv4Text(four) };
    const six = ipv6(text);
    if (six !== undefined) return { ok: true, value: ipv6Text(six) };
    return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
  },
  ...addresses,
  jsonSchema: { type: 'string' },
};
