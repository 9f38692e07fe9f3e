import type { Kind } from '../kind.js';
import { ipv6, ipv6Text } from './ipv6.js';
import { ipv6Addresses } from './ipv6-address.js';
import { quoted } from './quoted.js';
import { interfaceName } from './text.js';

/** Next hop of an IPv6 route: a neighbour, an interface, or a neighbour on a named interface. */
interface Ipv6Nexthop {
  /** Address of the neighbour, a 128-bit number. */
  readonly address?: bigint;
  /** Interface name. */
  readonly interface?: string;
}

/** Parses `address`, `interface` or `address%interface`. Does not check whether the interface exists. */
export function parseIpv6Nexthop(text: string): Ipv6Nexthop | undefined {
  const [head = '', ...rest] = text.split('%');
  const address = ipv6(head);
  const name = address === undefined ? text : rest.length === 0 ? undefined : rest.join('%');
  if (name === undefined) return address === undefined ? undefined : { address };
  // Names of interfaces may contain a colon; what consists of it and digits was meant as an address.
  const isName = interfaceName.parse(name).ok && !/^[0-9A-Fa-f:]*:[0-9A-Fa-f:]*$/.test(name);
  return isName ? { ...(address !== undefined && { address }), interface: name } : undefined;
}

const ACCEPTS = 'an IPv6 address, an interface name or address%interface';

/** The part that may be the name of an interface. */
const interfacePart = (value: string): string => parseIpv6Nexthop(value)?.interface ?? '';

/** Next hop of an IPv6 route. */
export const ipv6Nexthop: Kind = {
  name: 'ip6-nexthop',
  accepts: ACCEPTS,
  parse(text) {
    const hop = parseIpv6Nexthop(text);
    if (hop === undefined) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    const address = hop.address === undefined ? undefined : ipv6Text(hop.address);
    return { ok: true, value: [address, hop.interface].filter((part) => part !== undefined).join('%') };
  },
  ...ipv6Addresses,
  ref: [{ menu: '/interface', prop: 'name' }],
  references: (value) => (interfacePart(value) === '' ? [] : [interfacePart(value)]),
  rename: (value, from, to) =>
    interfacePart(value) === from ? value.slice(0, value.length - from.length) + to : value,
  jsonSchema: { type: 'string' },
};
