import type { AddressSpan, Kind, Parsed } from '../kind.js';
import { ipv6, ipv6Prefix, ipv6Text } from './ipv6.js';
import { ipv6Addresses } from './ipv6-address.js';
import { quoted } from './quoted.js';

/** First and last address of an address, a prefix or `a-b`; undefined when the text is none of them. */
export function ipv6Range(text: string): AddressSpan | undefined {
  const [head = '', tail, ...more] = text.split('-');
  if (more.length > 0) return undefined;
  if (tail === undefined) {
    const prefix = ipv6Prefix(head);
    return prefix && { first: prefix.address, last: prefix.address | ((1n << BigInt(128 - prefix.length)) - 1n) };
  }
  const [first, last] = [ipv6(head), ipv6(tail)];
  return first === undefined || last === undefined || last < first ? undefined : { first, last };
}

/** Prefix length of a range that is exactly one prefix. */
function exactLength({ first, last }: AddressSpan): number | undefined {
  const host = first ^ last;
  // The first bits are the same, and all others 0 in the first address and 1 in the last.
  const isPrefix = (host & (host + 1n)) === 0n && (first & host) === 0n;
  return isPrefix ? 128 - (host === 0n ? 0 : host.toString(2).length) : undefined;
}

const ACCEPTS = 'an IPv6 address, a prefix such as 2001:db8::/32 or a range of addresses';

function parse(text: string, prefixWhenExact: boolean): Parsed {
  const range = ipv6Range(text);
  if (range === undefined) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
  const { first, last } = range;
  if (first === last) return { ok: true, value: ipv6Text(first) };
  const length = prefixWhenExact || !text.includes('-') ? exactLength(range) : undefined;
  return { ok: true, value: `${ipv6Text(first)}${length === undefined ? `-${ipv6Text(last)}` : `/${length}`}` };
}

/** One address, prefix or range. */
export const ipv6AddressRange: Kind = {
  name: 'ip6-range',
  accepts: ACCEPTS,
  parse: (text) => parse(text, false),
  ...ipv6Addresses,
  range: ipv6Range,
  jsonSchema: { type: 'string' },
};

/** Entry of an address list: a range that is exactly a prefix becomes that prefix, so that equal entries are equal texts. */
export const ipv6RangeExact: Kind = { ...ipv6AddressRange, parse: (text) => parse(text, true) };
