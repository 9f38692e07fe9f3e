import type { Parsed } from '../kind.js';
import { ipv4, ipv4Mask, ipv4Prefix, ipv4Text } from './ip.js';
import { ipv6, ipv6Prefix, ipv6Text } from './ipv6.js';
import { quoted } from './quoted.js';

/** Family of addresses, by the first word of its menus. */
export type AddressFamily = 'ip' | 'ipv6';

/** Bits of an address. */
export const ADDRESS_BITS: Readonly<Record<AddressFamily, number>> = { ip: 32, ipv6: 128 };

/** An address as a number; undefined when the text is none of the family. */
export function addressNumber(text: string, family: AddressFamily): bigint | undefined {
  if (family === 'ipv6') return ipv6(text);
  const address = ipv4(text);
  return address === undefined ? undefined : BigInt(address);
}

/** Canonical text of an address. */
export const addressText = (address: bigint, family: AddressFamily): string =>
  family === 'ip' ? ipv4Text(Number(address)) : ipv6Text(address);

/** A network: first and last address, and bits that these have in common. */
export interface Network {
  readonly first: bigint;
  readonly last: bigint;
  readonly length: number;
}

/** The network of `address/length`, whose host bits are cleared, or of an address alone; undefined for other texts. */
export function networkOf(text: string, family: AddressFamily): Network | undefined {
  const prefix = family === 'ip' ? ipv4Prefix(text) : ipv6Prefix(text);
  if (prefix === undefined) return undefined;
  const { address, length } = prefix;
  const first = typeof address === 'bigint' ? address : BigInt((address & ipv4Mask(length)) >>> 0);
  return { first, last: first | ((1n << BigInt(ADDRESS_BITS[family] - length)) - 1n), length };
}

/** Canonical text of a network, `address/length`. */
export const networkText = ({ first, length }: Network, family: AddressFamily): string =>
  `${addressText(first, family)}/${length}`;

/**
 * Parses a network. Host bits are refused, as a mistyped length would make a route to a larger network.
 * @param accepts what the kind accepts, for errors
 */
export function parseNetwork(text: string, family: AddressFamily, accepts: string): Parsed {
  const network = networkOf(text, family);
  if (network === undefined) return { ok: false, error: `${quoted(text)} is not ${accepts}` };
  const value = networkText(network, family);
  return addressNumber(text.replace(/\/.*$/, ''), family) === network.first
    ? { ok: true, value }
    : { ok: false, error: `${quoted(text)} has host bits beyond its length; give ${value}` };
}
