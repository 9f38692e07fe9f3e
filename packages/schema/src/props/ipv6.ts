import { ipv4, ipv4Text } from './ip.js';

/** Groups of an IPv6 address. */
const GROUPS = 8;
/** Bits of an IPv6 address. */
const BITS = 128;

/** First address of a network and its length, bits. */
interface Ipv6Prefix {
  /** 128-bit number. */
  readonly address: bigint;
  readonly length: number;
}

/** IPv6 address as a 128-bit number (RFC 4291 §2.2); undefined for other texts. */
export function ipv6(text: string): bigint | undefined {
  const last = text.slice(text.lastIndexOf(':') + 1);
  if (last.includes('.')) return withEmbeddedIpv4(text.slice(0, -last.length), last);
  const halves = text.split('::');
  if (!text.includes(':') || halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = GROUPS - head.length - tail.length;
  // `::` stands for at least one group.
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  let value = 0n;
  for (const group of [...head, ...Array<string>(missing).fill('0'), ...tail]) {
    if (!/^[0-9A-Fa-f]{1,4}$/.test(group)) return undefined;
    value = (value << 16n) | BigInt(`0x${group}`);
  }
  return value;
}

/** IPv6 address whose last two groups are written as an IPv4 address (RFC 4291 §2.2 item 3), `::ffff:192.0.2.1`. */
function withEmbeddedIpv4(groups: string, last: string): bigint | undefined {
  const address = ipv4(last);
  return address === undefined
    ? undefined
    : ipv6(`${groups}${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}`);
}

/** First 96 bits of an IPv4-mapped address (RFC 4291 §2.5.5.2). */
const IPV4_MAPPED = 0xffffn;

/** Text of a 128-bit number in the form of RFC 5952 §4, of an IPv4-mapped address that of §5. The data plane writes the same. */
export function ipv6Text(value: bigint): string {
  if (value >> 32n === IPV4_MAPPED) return `::ffff:${ipv4Text(Number(value & 0xffff_ffffn))}`;
  const groups = Array.from({ length: GROUPS }, (_, index) =>
    ((value >> BigInt(16 * (GROUPS - 1 - index))) & 0xffffn).toString(16),
  );
  const zeros = longestZeros(groups);
  if (zeros.length < 2) return groups.join(':');
  return `${groups.slice(0, zeros.start).join(':')}::${groups.slice(zeros.start + zeros.length).join(':')}`;
}

/** The first of the longest runs of zero groups. */
function longestZeros(groups: readonly string[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start += 1) {
    let length = 0;
    while (groups[start + length] === '0') length += 1;
    if (length > best.length) best = { start, length };
  }
  return best;
}

/** Parses `address/length`, and an address as /128; host bits are cleared. */
export function ipv6Prefix(text: string): Ipv6Prefix | undefined {
  const [head = '', tail, ...more] = text.split('/');
  const address = ipv6(head);
  if (address === undefined || more.length > 0) return undefined;
  if (tail !== undefined && (!/^(0|[1-9]\d{0,2})$/.test(tail) || Number(tail) > BITS)) return undefined;
  const length = tail === undefined ? BITS : Number(tail);
  const host = BigInt(BITS - length);
  return { address: (address >> host) << host, length };
}

/** Whether an address is only for neighbours on one link (RFC 4291 §2.5.6). */
export const isLinkLocal = (address: bigint): boolean => address >> 118n === 0x3fan;
