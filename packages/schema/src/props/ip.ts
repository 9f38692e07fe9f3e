import type { AddressSpan, Kind } from '../kind.js';
import { quoted } from './quoted.js';

/** IPv4 address as an unsigned 32-bit number; undefined when the text is none. */
export function ipv4(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (!match) return undefined;
  let value = 0;
  for (const octet of match.slice(1)) {
    if (Number(octet) > 255 || (octet.length > 1 && octet.startsWith('0'))) return undefined;
    value = value * 256 + Number(octet);
  }
  return value;
}

/** Dotted text of an unsigned 32-bit number. */
export const ipv4Text = (value: number): string =>
  `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;

/** Network mask of a prefix length 0..32, as an unsigned number. */
export const ipv4Mask = (prefixLength: number): number =>
  prefixLength === 0 ? 0 : (0xffff_ffff << (32 - prefixLength)) >>> 0;

/** First address, prefix length and the address as written in `a.b.c.d/n`. */
interface Ipv4Prefix {
  readonly address: number;
  readonly length: number;
}

/** Parses `a.b.c.d/n`, and `a.b.c.d` as /32. Host bits are kept. */
export function ipv4Prefix(text: string): Ipv4Prefix | undefined {
  const [head = '', tail, ...more] = text.split('/');
  const address = ipv4(head);
  if (address === undefined || more.length > 0) return undefined;
  if (tail === undefined) return { address, length: 32 };
  if (!/^\d{1,2}$/.test(tail) || Number(tail) > 32 || (tail.length > 1 && tail.startsWith('0'))) return undefined;
  return { address, length: Number(tail) };
}

/** Functions that all kinds of addresses share. */
export const addresses: Pick<Kind, 'compare' | 'sortKey' | 'range' | 'filterType'> = {
  compare: compareAddresses,
  sortKey: addressSortKey,
  range: addressSpan,
  filterType: 'address',
};

const ACCEPTS = 'an IPv4 address a.b.c.d';

/** IPv4 address. */
export const ip: Kind = {
  name: 'ip',
  accepts: ACCEPTS,
  parse(text) {
    const value = ipv4(text);
    return value === undefined
      ? { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` }
      : { ok: true, value: ipv4Text(value) };
  },
  ...addresses,
  widest: '200.200.200.200',
  jsonSchema: { type: 'string', format: 'ipv4' },
};

/** Address with an optional port, `192.0.2.1:443`, as the connection table prints it. */
export const ipPort: Kind = {
  name: 'ip-port',
  accepts: 'an IPv4 address a.b.c.d, optionally with :port',
  parse(text) {
    const match = /^([\d.]+)(?::(\d{1,5}))?$/.exec(text);
    const value = ipv4(match?.[1] ?? '');
    if (value === undefined || Number(match?.[2] ?? 0) > 65_535) {
      return { ok: false, error: `${quoted(text)} is not ${ipPort.accepts}` };
    }
    return { ok: true, value: ipv4Text(value) + (match?.[2] === undefined ? '' : `:${Number(match[2])}`) };
  },
  ...addresses,
  withPort: true,
  widest: '200.200.200.200:50000',
  jsonSchema: { type: 'string' },
};

/** Network of `a.b.c.d/n`, without its length. */
export function ipv4Network(text: string): string | undefined {
  const prefix = ipv4Prefix(text);
  return prefix && ipv4Text((prefix.address & ipv4Mask(prefix.length)) >>> 0);
}

/** First and last address of `a.b.c.d`, `a.b.c.d:port`, `a.b.c.d%interface`, `a.b.c.d/n` or `a.b.c.d-e.f.g.h`. */
export function addressSpan(text: string): AddressSpan | undefined {
  const dash = text.indexOf('-');
  if (dash > 0) {
    const [from, to] = [ipv4Prefix(text.slice(0, dash)), ipv4Prefix(text.slice(dash + 1))];
    return from && to && { first: BigInt(from.address), last: BigInt(to.address) };
  }
  const prefix = ipv4Prefix(text.replace(/[:%].*$/, ''));
  if (prefix === undefined) return undefined;
  const mask = ipv4Mask(prefix.length);
  return { first: BigInt((prefix.address & mask) >>> 0), last: BigInt((prefix.address | ~mask) >>> 0) };
}

/** A number in the order of addresses; texts with the same address are ordered by the number after it. */
export function addressSortKey(text: string): number | undefined {
  const match = /^([\d.]+)(?:[:/](\d{1,5}))?$/.exec(text);
  const address = ipv4Prefix(match?.[1] ?? '')?.address;
  // An address without anything after it comes first.
  return address === undefined ? undefined : address * 0x2_0000 + (match?.[2] === undefined ? 0 : 1 + Number(match[2]));
}

/** Order by the first address in a text, then by the numbers after it; other texts come last. */
export function compareAddresses(a: string, b: string): number {
  const left = /^([\d.]+)(.*)$/.exec(a);
  const right = /^([\d.]+)(.*)$/.exec(b);
  const x = ipv4(left?.[1] ?? '') ?? 0x1_0000_0000;
  const y = ipv4(right?.[1] ?? '') ?? 0x1_0000_0000;
  if (x !== y) return x - y;
  return (left?.[2] ?? a).localeCompare(right?.[2] ?? b, 'en', { numeric: true });
}
