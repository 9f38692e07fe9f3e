import type { Kind } from '../kind.js';
import { addressSortKey, addressSpan, ipv4, ipv4Text } from './ip.js';
import { quoted } from './quoted.js';
import { interfaceName } from './text.js';

/** Next hop of a route: a neighbour, an interface, or a neighbour on a named interface. */
interface Nexthop {
  /** IPv4 address of the neighbour. */
  readonly address?: number;
  /** Interface name. */
  readonly interface?: string;
}

/** Parses `address`, `interface` or `address%interface`. Does not check whether the interface exists. */
export function parseNexthop(text: string): Nexthop | undefined {
  const percent = text.indexOf('%');
  const head = percent < 0 ? text : text.slice(0, percent);
  const tail = percent < 0 ? undefined : text.slice(percent + 1);
  const address = ipv4(head);
  if (tail !== undefined) {
    return address === undefined || !isInterfaceName(tail) ? undefined : { address, interface: tail };
  }
  if (address !== undefined) return { address };
  // An interface name contains a letter, so that a mistyped address is not mistaken for one.
  return isInterfaceName(head) ? { interface: head } : undefined;
}

const isInterfaceName = (text: string): boolean => interfaceName.parse(text).ok;

/** The part that may be the name of an interface: the whole text, or the text after the `%`. */
const interfacePart = (value: string): string => value.slice(value.indexOf('%') + 1);

const ACCEPTS = 'an IPv4 address, an interface name or address%interface';

/** Next hop of a route. */
export const nexthop: Kind = {
  name: 'nexthop',
  accepts: ACCEPTS,
  parse(text) {
    const hop = parseNexthop(text);
    if (!hop) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    const address = hop.address === undefined ? undefined : ipv4Text(hop.address);
    return { ok: true, value: [address, hop.interface].filter((part) => part !== undefined).join('%') };
  },
  sortKey: addressSortKey,
  range: addressSpan,
  ref: [{ menu: '/interface', prop: 'name' }],
  references: (value) => (/[A-Za-z]/.test(interfacePart(value)) ? [interfacePart(value)] : []),
  rename: (value, from, to) =>
    interfacePart(value) === from ? value.slice(0, value.length - from.length) + to : value,
  jsonSchema: { type: 'string' },
};
