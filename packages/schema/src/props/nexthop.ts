import type { Kind } from '../kind.js';
import { type AddressFamily, addressNumber, addressText } from './address-family.js';
import { missingElement } from './comma-list.js';
import { addressSortKey, addressSpan } from './ip.js';
import { compareIpv6, ipv6Span } from './ipv6-address.js';
import { quoted } from './quoted.js';
import { TABLE_REFERENTS, tableName } from './table-name.js';
import { interfaceName } from './text.js';

/** Next hop of a route: a neighbour, an interface, or a neighbour on a named interface, found in a routing table. */
export interface Nexthop {
  /** Address of the neighbour, in its canonical spelling. */
  readonly address?: string;
  /** Interface name. */
  readonly interface?: string;
  /** Routing table in which the way to the neighbour is looked up. */
  readonly table?: string;
}

/** Next hops that a route has at most (MAX_GATEWAYS of the data plane). */
export const MAX_GATEWAYS = 64;

/** Parts of a next hop that are names: of an interface, and behind the @ that of a routing table. */
type NamedPart = 'interface' | 'table';

/** The text of a next hop before and behind its %, and behind its @. */
function split(text: string): { readonly head: string; readonly tail?: string; readonly table?: string } {
  const at = text.lastIndexOf('@');
  const way = at < 0 ? text : text.slice(0, at);
  const percent = way.indexOf('%');
  return {
    head: percent < 0 ? way : way.slice(0, percent),
    ...(percent < 0 ? {} : { tail: way.slice(percent + 1) }),
    ...(at < 0 ? {} : { table: text.slice(at + 1) }),
  };
}

/** {@link Kind.rename} of one next hop. Other than in a configuration, a name may be any text. */
function renameInNexthop(text: string, from: string, to: string, part?: string): string {
  const { head, tail, table } = split(text);
  const renamed = (name: string, of: NamedPart) => (name === from && (part === undefined || part === of) ? to : name);
  // An address is no name of an interface.
  const way = tail === undefined ? renamed(head, 'interface') : `${head}%${renamed(tail, 'interface')}`;
  return table === undefined ? way : `${way}@${renamed(table, 'table')}`;
}

const isInterfaceName = (text: string): boolean => interfaceName.parse(text).ok;

function addressOf(text: string, family: AddressFamily): string | undefined {
  const address = addressNumber(text, family);
  return address === undefined ? undefined : addressText(address, family);
}

/**
 * Parses `address`, `interface` or `address%interface`, each with `@table` behind it or not. Does not check whether
 * interface and table exist.
 */
export function parseNexthop(text: string, family: AddressFamily): Nexthop | undefined {
  const { head, tail, table } = split(text);
  if (table !== undefined && !tableName.parse(table).ok) return undefined;
  const address = addressOf(head, family);
  const inTable = table === undefined ? {} : { table };
  if (tail !== undefined) {
    return address === undefined || !isInterfaceName(tail) ? undefined : { address, interface: tail, ...inTable };
  }
  if (address !== undefined) return { address, ...inTable };
  // An interface name contains a letter and no colon, so that a mistyped address is not mistaken for one.
  return isInterfaceName(head) ? { interface: head, ...inTable } : undefined;
}

/** Canonical text of a next hop. */
export const nexthopText = (hop: Nexthop): string =>
  [hop.address, hop.interface].filter((part) => part !== undefined).join('%') +
  (hop.table === undefined ? '' : `@${hop.table}`);

/** Next hops in a comma list, in its order; undefined if one of them is none. */
export function parseNexthops(text: string, family: AddressFamily): readonly Nexthop[] | undefined {
  const hops = text.split(',').map((part) => parseNexthop(part.trim(), family));
  return hops.every((hop) => hop !== undefined) ? hops : undefined;
}

const accepted = (family: AddressFamily): string =>
  `${family === 'ip' ? 'an IPv4 address' : 'an IPv6 address'}, an interface name or address%interface, with @table ` +
  'behind it if the way is found in another routing table, or several of them separated by commas';

/** The first element of a comma list without its table. */
const firstOf = (value: string): string => value.replace(/[,@].*$/, '');

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
  ref: [
    { menu: '/interface', prop: 'name', part: 'interface' satisfies NamedPart },
    ...TABLE_REFERENTS.map((ref) => ({ ...ref, part: 'table' satisfies NamedPart })),
  ],
  references: (value, part) => [
    ...new Set(
      (parseNexthops(value, family) ?? []).flatMap((hop) =>
        (['interface', 'table'] as const).flatMap((of) => (part === undefined || part === of ? (hop[of] ?? []) : [])),
      ),
    ),
  ],
  rename: (value, from, to, part) =>
    value
      .split(',')
      .map((hop) => renameInNexthop(hop, from, to, part))
      .join(','),
  editor: 'list',
  jsonSchema: { type: 'string' },
});
