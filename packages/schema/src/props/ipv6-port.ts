import type { Kind } from '../kind.js';
import { ipv6, ipv6Text } from './ipv6.js';
import { compareIpv6, ipv6Span } from './ipv6-address.js';
import { quoted } from './quoted.js';

const ACCEPTS = 'an IPv6 address, or [address]:port';

/** The address of a text, and the port after it. */
function partsOf(text: string): { readonly address: string; readonly port: string | undefined } {
  const [, address = text, port] = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(text) ?? [];
  return { address, port };
}

/** IPv6 address with an optional port, `[2001:db8::1]:443` (RFC 3986 section 3.2.2), as the connection table prints it. */
export const ipv6Port: Kind = {
  name: 'ip6-port',
  accepts: ACCEPTS,
  parse(text) {
    const { address, port } = partsOf(text);
    const value = ipv6(address);
    if (value === undefined || Number(port ?? 0) > 65_535) {
      return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    }
    return { ok: true, value: port === undefined ? ipv6Text(value) : `[${ipv6Text(value)}]:${Number(port)}` };
  },
  compare(a, b) {
    const [left, right] = [partsOf(a), partsOf(b)];
    return compareIpv6(left.address, right.address) || Number(left.port ?? -1) - Number(right.port ?? -1);
  },
  range: (value) => ipv6Span(partsOf(value).address),
  filterType: 'address',
  withPort: true,
  jsonSchema: { type: 'string' },
};
