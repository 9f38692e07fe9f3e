import type { Kind, Parsed } from '../kind.js';
import { addresses, ipv4, ipv4Mask, ipv4Prefix, ipv4Text } from './ip.js';
import { quoted } from './quoted.js';

/** Inclusive range of IPv4 addresses as unsigned numbers. */
interface Ipv4Range {
  readonly from: number;
  readonly to: number;
}

/** Range of an address, a prefix or `a-b`; undefined when the text is none of them. */
export function ipv4Range(text: string): Ipv4Range | undefined {
  const parts = text.split('-');
  if (parts.length === 2) {
    const from = ipv4(parts[0] ?? '');
    const to = ipv4(parts[1] ?? '');
    return from === undefined || to === undefined || to < from ? undefined : { from, to };
  }
  const prefix = parts.length === 1 ? ipv4Prefix(text) : undefined;
  if (!prefix) return undefined;
  const mask = ipv4Mask(prefix.length);
  return { from: (prefix.address & mask) >>> 0, to: (prefix.address | ~mask) >>> 0 };
}

/** Prefix length of a range that is exactly one prefix. */
function exactLength({ from, to }: Ipv4Range): number | undefined {
  for (let length = 0; length <= 32; length += 1) {
    const mask = ipv4Mask(length);
    if ((from & mask) >>> 0 === from && (from | ~mask) >>> 0 === to) return length;
  }
  return undefined;
}

const ACCEPTS = 'an IPv4 address, a prefix a.b.c.d/n or a range a.b.c.d-e.f.g.h';

function parse(text: string, prefixWhenExact: boolean): Parsed {
  const range = ipv4Range(text);
  if (!range) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
  if (range.from === range.to) return { ok: true, value: ipv4Text(range.from) };
  const length = prefixWhenExact || !text.includes('-') ? exactLength(range) : undefined;
  const tail = length === undefined ? `-${ipv4Text(range.to)}` : `/${length}`;
  return { ok: true, value: `${ipv4Text(range.from)}${tail}` };
}

/** One address, prefix or range. */
export const ipRange: Kind = {
  name: 'ip-range',
  accepts: ACCEPTS,
  parse: (text) => parse(text, false),
  ...addresses,
  widest: '200.200.200.200',
  jsonSchema: { type: 'string' },
};

/** Entry of an address list: a range that is exactly a prefix becomes that prefix, so that equal entries are equal texts. */
export const ipRangeExact: Kind = { ...ipRange, parse: (text) => parse(text, true) };
