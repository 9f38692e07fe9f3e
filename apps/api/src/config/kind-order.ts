import { durationMs, ipv4Prefix, type Kind } from '@tollway/schema';

/** Kinds whose values hold addresses. */
export const ADDRESSES: readonly string[] = [
  'ip',
  'ip-port',
  'ip-prefix',
  'ip-iface-prefix',
  'ip-range',
  'nexthop',
  'queue-target',
  'queue-target-list',
];

/** How two values of a kind stand to each other. */
export const order = (kind: Kind, a: string, b: string): number =>
  kind.compare ? kind.compare(a, b) : a < b ? -1 : a > b ? 1 : 0;

/** A number in the order of a kind's values, where they have one: sorting by it costs no parsing. */
export function sortNumber(kind: Pick<Kind, 'name'>, cell: string): number | undefined {
  if (/^\d{1,15}$/.test(cell)) return Number(cell);
  if (kind.name === 'duration') return durationMs(cell);
  if (!ADDRESSES.includes(kind.name)) return undefined;
  const match = /^([\d.]+)(?:[:/](\d{1,5}))?$/.exec(cell);
  const address = ipv4Prefix(match?.[1] ?? '')?.address;
  // What follows the address orders those of the same address; nothing comes before anything.
  return address === undefined ? undefined : address * 0x2_0000 + (match?.[2] === undefined ? 0 : 1 + Number(match[2]));
}
