import type { AddressSpan, Kind } from '../kind.js';
import { parseNetwork } from './address-family.js';
import { ipv6, ipv6Prefix, ipv6Text } from './ipv6.js';
import { quoted } from './quoted.js';

/** Bits of an address. */
const BITS = 128;

/** First and last address of an address, `address%interface` or prefix. */
export function ipv6Span(text: string): AddressSpan | undefined {
  const prefix = ipv6Prefix(text.replace(/%.*$/, ''));
  if (prefix === undefined) return undefined;
  return { first: prefix.address, last: prefix.address | ((1n << BigInt(BITS - prefix.length)) - 1n) };
}

/** Order by the address, then by what comes after it; other texts come last. */
export function compareIpv6(a: string, b: string): number {
  const [left = '', right = ''] = [a, b].map((text) => text.replace(/[%/].*$/, ''));
  const [x, y] = [ipv6(left), ipv6(right)];
  if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
  if (x !== y) return x < y ? -1 : 1;
  return a.slice(left.length).localeCompare(b.slice(right.length), 'en', { numeric: true });
}

/** Functions that all kinds of IPv6 addresses share. */
export const ipv6Addresses: Pick<Kind, 'compare' | 'range' | 'filterType'> = {
  compare: compareIpv6,
  range: ipv6Span,
  filterType: 'address',
};

const ACCEPTS = 'an IPv6 address such as 2001:db8::1';

/** IPv6 address. */
export const ipv6Address: Kind = {
  name: 'ip6',
  accepts: ACCEPTS,
  parse(text) {
    const value = ipv6(text);
    return value === undefined
      ? { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` }
      : { ok: true, value: ipv6Text(value) };
  },
  ...ipv6Addresses,
  jsonSchema: { type: 'string', format: 'ipv6' },
};

/** Prefix length at the end of a text; undefined where there is none. */
const lengthOf = (text: string): string | undefined => /\/(\d+)$/.exec(text)?.[1];

const NETWORK_ACCEPTS = 'an IPv6 prefix such as 2001:db8::/32 with a length of 0..128';

/** Network: a bare address is a /128. */
export const ipv6Network: Kind = {
  name: 'ip6-prefix',
  accepts: NETWORK_ACCEPTS,
  parse: (text) => parseNetwork(text, 'ipv6', NETWORK_ACCEPTS),
  ...ipv6Addresses,
  jsonSchema: { type: 'string' },
};

const IFACE_ACCEPTS = 'an IPv6 address with prefix length such as 2001:db8::1/64';

/** Address of the router with its prefix length: host bits are kept. */
export const ipv6InterfacePrefix: Kind = {
  name: 'ip6-iface-prefix',
  accepts: IFACE_ACCEPTS,
  parse(text) {
    const address = ipv6(text.replace(/\/.*$/, ''));
    const length = ipv6Prefix(text)?.length;
    return address === undefined || length === undefined || lengthOf(text) === undefined
      ? { ok: false, error: `${quoted(text)} is not ${IFACE_ACCEPTS}` }
      : { ok: true, value: `${ipv6Text(address)}/${length}` };
  },
  ...ipv6Addresses,
  jsonSchema: { type: 'string' },
};
