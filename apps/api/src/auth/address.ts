import { ipv4, ipv4Text, ipv6, ipv6Text } from '@tollway/schema';

/**
 * An address without the IPv4-mapped prefix of dual-stack sockets, without a zone, and without the port that some proxies add
 * to `X-Forwarded-For`.
 */
export function plainAddress(address: string): string {
  const text = address
    .toLowerCase()
    .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '');
  const value = ipv6(text);
  return value !== undefined && value >> 32n === IPV4_MAPPED ? ipv4Text(Number(value & 0xffff_ffffn)) : text;
}

/** First 96 bits of an IPv4-mapped address (RFC 4291 §2.5.5.2). */
const IPV4_MAPPED = 0xffffn;

/** The canonical text of an address. */
export function oneAddress(address: string): string {
  const plain = plainAddress(address);
  const value = ipv6(plain);
  return value === undefined ? plain : ipv6Text(value);
}

/**
 * The key of limits by address: one IPv4 address, or the /64 of an IPv6 address, the smallest network of a subscriber. All
 * invalid texts, which a proxy may pass on, share one key.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  const value = ipv6(plain);
  if (value === undefined) return ipv4(plain) === undefined ? 'unknown' : plain;
  const groups = [112n, 96n, 80n, 64n].map((bits) => ((value >> bits) & 0xffffn).toString(16));
  return `${groups.join(':')}::/64`;
}

export const isLoopback = (address: string): boolean => {
  const plain = plainAddress(address);
  return plain === '::1' || (ipv4(plain) !== undefined && plain.startsWith('127.'));
};
