import { isIP, isIPv4, isIPv6 } from 'node:net';

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
  const mapped = isIPv6(text) ? /^::ffff:([\da-f]+):([\da-f]+)$/.exec(canonical(text)) : null;
  if (mapped === null) return text;
  const words = [mapped[1], mapped[2]].map((word) => Number.parseInt(word ?? '', 16));
  return words.flatMap((word) => [word >> 8, word & 255]).join('.');
}

/** An IPv6 address as RFC 5952 writes it. */
const canonical = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

/** The canonical text of an address. */
export function oneAddress(address: string): string {
  const plain = plainAddress(address);
  return isIPv6(plain) ? canonical(plain) : plain;
}

/**
 * The key of limits by address: one IPv4 address, or the /64 of an IPv6 address, the smallest network of a subscriber. All
 * invalid texts, which a proxy may pass on, share one key.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return isIP(plain) === 0 ? 'unknown' : plain;
  const [head = '', tail] = canonical(plain).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

export const isLoopback = (address: string): boolean => {
  const plain = plainAddress(address);
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
};
