import type { Kind } from '../kind.js';
import { type AddressFamily, addressNumber, addressText } from './address-family.js';
import { missingElement } from './comma-list.js';
import { addressSortKey, addressSpan } from './ip.js';
import { compareIpv6, ipv6Span } from './ipv6-address.js';
import { quoted } from './quoted.js';
import { interfaceName } from './text.js';

/** Next hop of a route: a neighbour, an interface, or a neighbour on a named interface. */
export interface Nexthop {
  /** Address of the neighbour, in its canonical spelling. */
  readonly address?: string;
  /** Interface name. */
  readonly interface?: string;
}

/** Next hops that a route has at most (MAX_GATEWAYS of the data plane). */
export const MAX_GATEWAYS = 64;

const isInterfaceName = (text: string): boolean => interfaceName.parse(text).ok;

function addressOf(text: string, family: AddressFamily): string | undefined {
  const address = addressNumber(text, family);
  return address === undefined ? undefined : addressText(address, family);
}

/** Parses `address`, `interface` or `address%interface`. Does not check whether the interface exists. */
export function parseNexthop(text: string, family: AddressFamily): Nexthop | undefined {
  const percent = text.indexOf('%');
  const head = percent < 0 ? text : text.slice(0, percent);
  const tail = percent < 0 ? undefined : text.slice(percent + 1);
  const address = addressOf(head, family);
  if (tail !== undefined) {
    return address === undefined || !isInterfaceName(tail) ? undefined : { address, interface: tail };
  }
  if (address !== undefined) return { address };
  // An interface name contains a letter and no colon, so that a mistyped address is not mistaken for one.
  return isInterfaceName(head) ? { interface: head } : undefined;
}

/** Canonical text of a next hop. */
export const nexthopText = (hop: Nexthop): string =>
  [hop.address, hop.interface].filter((part) => part !== undefined).join('%');

/** Next hops in a comma list, in its order; undefined if one of them is none. */
export function parseNexthops(text: string, family: AddressFamily): readonly Nexthop[] | undefined {
  const hops = text.split(',').map((part) => parseNexthop(part.trim(), family));
  return hops.every((hop) => hop !== undefined) ? hops : undefined;
}

const accepted = (family: AddressFamily): string =>
  `${family === 'ip' ? 'an IPv4 address' : 'an IPv6 address'}, an interface name or address%interface, or several of ` +
  'them separated by commas';

/** The first element of a comma list. */
const firstOf = (value: string): string => value.replace(/,.*$/, '');

/** Order of lists, and addresses that they are found by: those of their first elements. */
const ipv4Order: Pick<Kind, 'sortKey' | 'range'> = {
  sortKey: (value) => addressSortKey(firstOf(value)),
  range: (value) => addressSpan(firstOf(value)),
};
const ipv6Order: Pick<Kind, 'compare' | 'range'> = {
  compare: (a, b) => compareIpv6(firstOf(a), firstOf(b)),
  range: (value) => ipv6Span(firstOf(value)),
};

/** Next hops of a route, between which flows are divided; one that is named twice gets twice as many. */
export const nexthopList = (family: AddressFamily): Kind => ({
  name: 'nexthop-list',
  accepts: accepted(family),
  parse(text) {
    const missing = missingElement(text, 'a next hop');
    if (missing !== undefined) return { ok: false, error: `${missing}; give ${accepted(family)}` };
    const parts = text.split(',').map((part) => part.trim());
    const wrong = parts.find((part) => parseNexthop(part, family) === undefined);
    if (wrong !== undefined) return { ok: false, error: `${quoted(wrong)} is not ${accepted(family)}` };
    if (parts.length > MAX_GATEWAYS) {
      return { ok: false, error: `${parts.length} next hops are too many; give at most ${MAX_GATEWAYS}` };
    }
    const hops = parseNexthops(text, family) ?? [];
    return { ok: true, value: hops.map(nexthopText).join(',') };
  },
  ...(family === 'ip' ? ipv4Order : ipv6Order),
  ref: [{ menu: '/interface', prop: 'name' }],
  references: (value) => [...new Set((parseNexthops(value, family) ?? []).flatMap((hop) => hop.interface ?? []))],
  rename: (value, from, to) =>
    (parseNexthops(value, family) ?? [])
      .map((hop) => nexthopText(hop.interface === from ? { ...hop, interface: to } : hop))
      .join(','),
  editor: 'list',
  jsonSchema: { type: 'string' },
});
