import type { Kind } from '../kind.js';
import { missingElement } from './comma-list.js';
import { addressSortKey, addressSpan, ipv4, ipv4Text } from './ip.js';
import { ipv6, ipv6Text } from './ipv6.js';
import { quoted } from './quoted.js';
import { interfaceName } from './text.js';

/** Family of the addresses of a route. */
export type RouteFamily = 'ip' | 'ipv6';

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

function addressOf(text: string, family: RouteFamily): string | undefined {
  if (family === 'ip') {
    const address = ipv4(text);
    return address === undefined ? undefined : ipv4Text(address);
  }
  const address = ipv6(text);
  return address === undefined ? undefined : ipv6Text(address);
}

/** Parses `address`, `interface` or `address%interface`. Does not check whether the interface exists. */
export function parseNexthop(text: string, family: RouteFamily = 'ip'): Nexthop | undefined {
  const percent = text.indexOf('%');
  const head = percent < 0 ? text : text.slice(0, percent);
  const tail = percent < 0 ? undefined : text.slice(percent + 1);
  const address = addressOf(head, family);
  if (tail !== undefined) {
    return address === undefined || !isInterfaceName(tail) ? undefined : { address, interface: tail };
  }
  if (address !== undefined) return { address };
  // An interface name contains a letter, so that a mistyped address is not mistaken for one.
  return isInterfaceName(head) && !head.includes(':') ? { interface: head } : undefined;
}

/** Canonical text of a next hop. */
export const nexthopText = (hop: Nexthop): string =>
  [hop.address, hop.interface].filter((part) => part !== undefined).join('%');

/** Next hops in a comma list, in its order; undefined if one of them is none. */
export function parseNexthops(text: string, family: RouteFamily = 'ip'): readonly Nexthop[] | undefined {
  const hops = text.split(',').map((part) => parseNexthop(part.trim(), family));
  return hops.every((hop) => hop !== undefined) ? hops : undefined;
}

const accepted = (family: RouteFamily): string =>
  `${family === 'ip' ? 'an IPv4 address' : 'an IPv6 address'}, an interface name or address%interface, or several of ` +
  'them separated by commas';

/** Next hops of a route, between which flows are divided; one that is named twice gets twice as many. */
export const nexthopList = (family: RouteFamily): Kind => ({
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
  sortKey: (value) => addressSortKey(firstOf(value)),
  range: (value) => addressSpan(firstOf(value)),
  ref: [{ menu: '/interface', prop: 'name' }],
  references: (value) => [...new Set((parseNexthops(value, family) ?? []).flatMap((hop) => hop.interface ?? []))],
  rename: (value, from, to) =>
    (parseNexthops(value, family) ?? [])
      .map((hop) => nexthopText(hop.interface === from ? { ...hop, interface: to } : hop))
      .join(','),
  editor: 'list',
  jsonSchema: { type: 'string' },
});

/** The first element of a comma list. */
const firstOf = (value: string): string => value.replace(/,.*$/, '');
