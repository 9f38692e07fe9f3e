/** Addresses that no host can have (RFC 1122 section 3.2.1.3, RFC 6890), and multicast groups. */
const NO_HOSTS = [
  { from: 0, to: 0x00ff_ffff, what: 'reserved (0.0.0.0/8)' },
  { from: 0x7f00_0000, to: 0x7fff_ffff, what: 'a loopback address' },
  { from: 0xe000_0000, to: 0xefff_ffff, what: 'a multicast address' },
  { from: 0xf000_0000, to: 0xffff_ffff, what: 'reserved (240.0.0.0/4)' },
];

/** Description of an address between `address` and `last` that cannot be a host's; undefined when there is none. */
export const noHost = (address: number, last = address): string | undefined =>
  NO_HOSTS.find(({ from, to }) => address <= to && last >= from)?.what;

/** Error text for a link-layer address that cannot be one station's (IEEE 802: lowest bit of the first octet). */
export function notUnicast(mac: string): string | undefined {
  if (mac !== '00:00:00:00:00:00' && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0) return undefined;
  return `value of mac-address: ${mac} is no unicast address; give one whose first octet is even and that is not all zeros`;
}

/** IPv6 addresses that no host can have (RFC 4291 sections 2.5.2, 2.5.3, 2.5.5.2 and 2.7), by their first bits. */
const NO_IPV6_HOSTS = [
  { from: 0n, bits: 128n, what: 'the unspecified address' },
  { from: 1n, bits: 128n, what: 'the loopback address' },
  { from: 0xffff_0000_0000n, bits: 96n, what: 'an IPv4-mapped address' },
  { from: 0xffn << 120n, bits: 8n, what: 'a multicast address' },
];

/** Description of an IPv6 address that cannot be a host's; undefined when it can. */
export const noIpv6Host = (address: bigint): string | undefined =>
  NO_IPV6_HOSTS.find(({ from, bits }) => address >> (128n - bits) === from >> (128n - bits))?.what;
