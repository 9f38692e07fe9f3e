import { isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * An address without the IPv6 prefix that IPv4 has on a socket for both, without a zone, and without the port that some
 * proxies add to whom they forward for.
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

/** The one text of an address, however it is written. */
export function oneAddress(address: string): string {
  const plain = plainAddress(address);
  return isIPv6(plain) ? canonical(plain) : plain;
}

/**
 * Who limits hold for: one IPv4 address, or the 64 bits of an IPv6 address that one subscriber has at least. Texts that are
 * no address, which a proxy may pass on, are one together.
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
