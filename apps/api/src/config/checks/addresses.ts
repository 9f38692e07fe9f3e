/** Description of an address that cannot be one host's (RFC 6890). */
export function noHost(address: number): string | undefined {
  const first = address >>> 24;
  if (first === 0) return 'reserved (0.0.0.0/8)';
  if (first === 127) return 'a loopback address';
  if (first >= 240) return 'reserved (240.0.0.0/4)';
  if (first >= 224) return 'a multicast address';
  return undefined;
}

/** Error text for a link-layer address that cannot be one station's (IEEE 802: lowest bit of the first octet). */
export function notUnicast(mac: string): string | undefined {
  if (mac !== '00:00:00:00:00:00' && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0) return undefined;
  return `value of mac-address: ${mac} is no unicast address; give one whose first octet is even and that is not all zeros`;
}
