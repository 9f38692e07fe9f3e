import type { Prop } from '../menu.js';
import { duration } from '../props/duration.js';
import { oneOf } from '../props/enum.js';

/** What an interface with link-layer addresses does about ARP. */
export const arp: Readonly<Record<'arp' | 'arp-timeout', Prop>> = {
  arp: {
    kind: oneOf(['disabled', 'enabled', 'proxy-arp', 'reply-only', 'local-proxy-arp']),
    label: 'ARP',
    help: 'With enabled this interface answers for its own addresses alone, with proxy-arp also for what is reached through others.',
    tab: 'General',
    default: 'enabled',
    dataplane: true,
  },
  'arp-timeout': {
    kind: duration({ minMs: 1_000, keywords: ['auto'] }),
    label: 'ARP Timeout',
    help: 'How long a resolved neighbour counts as reachable; auto follows the IP settings.',
    tab: 'General',
    default: 'auto',
    dataplane: true,
  },
};
