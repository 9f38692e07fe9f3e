/** Importance of drop reasons for the operator of the router. Pure. */

/**
 * `bookkeeping`: packets that have already been handled. `policy`: drops by the configuration. `noise`: useless packets
 * from other hosts. `trouble`: the router lacks a resource.
 */
type Weight = 'bookkeeping' | 'policy' | 'noise' | 'trouble';

interface DropReason {
  readonly label: string;
  readonly weight: Weight;
  /** Address of the window with details. */
  readonly opens: string;
}

const FILTER = '/ip/firewall/filter';
const NAT = '/ip/firewall/nat';
const INTERFACES = '/interface';
const ARP = '/ip/arp';
const ROUTES = '/ip/route';
const SETTINGS = '/ip/settings';
const QUEUES = '/queue/simple';
const PROFILE = '/tool/profile';

const KNOWN: Readonly<Record<string, readonly [Weight, string]>> = {
  'arp-consumed': ['bookkeeping', ARP],
  'arp-ignored': ['bookkeeping', ARP],
  'nd-consumed': ['bookkeeping', INTERFACES],
  'nd-ignored': ['bookkeeping', INTERFACES],
  'echo-answered': ['bookkeeping', INTERFACES],
  'gateway-answered': ['bookkeeping', ROUTES],
  'not-for-us': ['bookkeeping', INTERFACES],
  'interface-disabled': ['policy', INTERFACES],
  'forwarding-off': ['policy', SETTINGS],
  'filter-drop': ['policy', FILTER],
  'filter-reject': ['policy', FILTER],
  blackhole: ['policy', ROUTES],
  'unreachable-route': ['policy', ROUTES],
  'prohibit-route': ['policy', ROUTES],
  'routing-rule': ['policy', '/routing/rule'],
  'reverse-path': ['policy', SETTINGS],
  'icmp-rate-limited': ['policy', SETTINGS],
  'source-route-failed': ['noise', ROUTES],
  'queue-full': ['policy', QUEUES],
  'connection-table-full': ['trouble', '/ip/firewall/connection/tracking'],
  'fragment-limit': ['trouble', INTERFACES],
  'fragment-reassembled': ['bookkeeping', INTERFACES],
  'nat-exhausted': ['trouble', NAT],
  'nat-no-address': ['trouble', NAT],
  'icmp-redirect': ['noise', NAT],
  'neighbor-table-full': ['trouble', SETTINGS],
  'neighbor-failed': ['noise', ARP],
  'neighbor-queue-full': ['noise', ARP],
  'no-route': ['noise', ROUTES],
  'out-interface-down': ['trouble', INTERFACES],
  'no-frame': ['trouble', '/system/resource'],
  'queue-memory': ['trouble', QUEUES],
  'resume-point-lost': ['trouble', FILTER],
  'handover-stale': ['trouble', PROFILE],
  'handover-queue-full': ['trouble', PROFILE],
  'receive-queue-full': ['trouble', PROFILE],
  'transmit-queue-full': ['trouble', INTERFACES],
  'frame-unusable': ['trouble', INTERFACES],
  'port-refused': ['trouble', INTERFACES],
  'port-gone': ['trouble', INTERFACES],
  'no-local-service': ['trouble', '/system/resource'],
  'local-queue-full': ['trouble', '/system/resource'],
};

/** Reasons whose weight is known. */
export const KNOWN_REASONS: readonly string[] = Object.keys(KNOWN);

/** Label, weight and window of a reason; an unknown reason counts as noise. */
export function dropReason(reason: string): DropReason {
  const [weight, opens] = KNOWN[reason] ?? ['noise', INTERFACES];
  const words = reason.replaceAll('-', ' ').replace(/^nat /, 'NAT ').replace(/^arp /, 'ARP ');
  return { label: words.slice(0, 1).toUpperCase() + words.slice(1), weight, opens };
}

interface Drop extends DropReason {
  readonly reason: string;
  /** Packets per second. */
  readonly rate: number;
}

/** Drops that deserve attention, sorted by weight, the worst first, and then by rate. Bookkeeping is omitted. */
export function notableDrops(drops: ReadonlyMap<string, number>): readonly Drop[] {
  const order: readonly Weight[] = ['trouble', 'noise', 'policy'];
  return [...drops]
    .map(([reason, rate]) => ({ reason, rate, ...dropReason(reason) }))
    .filter((drop) => drop.weight !== 'bookkeeping' && drop.rate > 0)
    .sort((a, b) => order.indexOf(a.weight) - order.indexOf(b.weight) || b.rate - a.rate);
}
