import { isIPv6 } from 'node:net';

/** An address without the IPv6 prefix that IPv4 has on a socket for both, and without a zone. */
export const plainAddress = (address: string): string =>
  address
    .toLowerCase()
    .replace(/^::ffff:(?=\d+\.)/, '')
    .replace(/%.*$/, '');

/** The one text of an address, however it is written. */
export function oneAddress(address: string): string {
  const plain = plainAddress(address);
  return isIPv6(plain) ? new URL(`http://[${plain}]`).hostname.slice(1, -1) : plain;
}

/** Who limits hold for: one IPv4 address, or the 64 bits of an IPv6 address that one subscriber has at least. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

export const isLoopback = (address: string): boolean => {
  const plain = plainAddress(address);
  return plain === '::1' || plain.startsWith('127.');
};
