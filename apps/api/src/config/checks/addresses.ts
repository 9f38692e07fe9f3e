import { ipv4Mask, ipv4Network, ipv4Prefix } from '@tollway/schema';
import type { KeyOf } from '../../snapshot/rows-by-key.js';
import { type FieldError, fieldError, type ProposedRow } from '../proposed-row.js';

/** The address itself, as a number. */
const hostOf: KeyOf = (values) => ipv4Prefix(values.address ?? '')?.address.toString();
const addressOn: KeyOf = (values) => `${values.address} ${values.interface}`;
export const addressIn: KeyOf = (values) => `${values.address} ${values.list}`;

/** `/ip/address` */
export function checkAddress({ values, given, others }: ProposedRow): FieldError | undefined {
  const text = values.address ?? '';
  const prefix = ipv4Prefix(text);
  if (!prefix) return undefined;
  const { address, length } = prefix;
  const reason = noHost(address) ?? noHostIn(address, length);
  if (reason) return fieldError('address', `value of address: ${text} is ${reason}; give the address of a host`);
  const network = given.has('address') && !given.has('network') ? undefined : values.network;
  const expected = ipv4Network(text);
  if (network !== undefined && length !== 32 && network !== expected) {
    return fieldError(
      'network',
      `value of network: ${network} is not the network of ${text}; give ${expected} or leave it out`,
    );
  }
  if (others.has(hostOf, String(address))) {
    return fieldError(
      'address',
      `failure: already have such address: ${text.split('/')[0]} (value of address must be unique)`,
    );
  }
  return undefined;
}

/** Description of an address that cannot be one host's (RFC 6890). */
export function noHost(address: number): string | undefined {
  const first = address >>> 24;
  if (first === 0) return 'reserved (0.0.0.0/8)';
  if (first === 127) return 'a loopback address';
  if (first >= 240) return 'reserved (240.0.0.0/4)';
  if (first >= 224) return 'a multicast address';
  return undefined;
}

/** Description of an address that is no host's in its network; /31 and /32 have hosts only (RFC 3021). */
function noHostIn(address: number, length: number): string | undefined {
  if (length >= 31) return undefined;
  const host = (address & ~ipv4Mask(length)) >>> 0;
  if (host === 0) return 'the address of the network itself';
  if (host === ~ipv4Mask(length) >>> 0) return 'the broadcast address of its network';
  return undefined;
}

/** `/ip/arp` */
export function checkArp({ values, others }: ProposedRow): FieldError | undefined {
  const { address, interface: name } = values;
  const reason = noHost(ipv4Prefix(address ?? '')?.address ?? 0);
  if (reason) return fieldError('address', `value of address: ${address} is ${reason}; give the address of a host`);
  if (others.has(addressOn, `${address} ${name}`)) {
    return fieldError(
      'address',
      `failure: already have such entry: ${address} on ${name} (value of address must be unique there)`,
    );
  }
  const mac = notUnicast(values['mac-address'] ?? '');
  return mac ? fieldError('mac-address', mac) : undefined;
}

/** Error text for a link-layer address that cannot be one station's (IEEE 802: lowest bit of the first octet). */
export function notUnicast(mac: string): string | undefined {
  if (mac !== '00:00:00:00:00:00' && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0) return undefined;
  return `value of mac-address: ${mac} is no unicast address; give one whose first octet is even and that is not all zeros`;
}

/** `/ip/firewall/address-list` */
export function checkAddressListEntry({ values, others }: ProposedRow): FieldError | undefined {
  const { list, address } = values;
  if (!others.has(addressIn, `${address} ${list}`)) return undefined;
  return fieldError(
    'address',
    `failure: already have such entry: ${address} in ${list} (value of address must be unique in a list)`,
  );
}
