import type { Prop } from '../menu.js';
import type { AddressFamily } from '../props/address-family.js';
import { bool } from '../props/bool.js';
import { bytes } from '../props/bytes.js';
import { counter } from '../props/counter.js';
import { readOnly } from './read-only.js';

/** The ways of a family past the slow path: whether each is open, and what took it. */
export function fastPathCounters(family: AddressFamily): Readonly<Record<string, Prop>> {
  const [prefix, title] = family === 'ip' ? ['ipv4', 'IPv4'] : ['ipv6', 'IPv6'];
  const way = (name: string, label: string, active: string, packets: string): Readonly<Record<string, Prop>> => ({
    [`${prefix}-${name}-active`]: readOnly(bool, `${title} ${label} Active`, active, 'Status'),
    [`${prefix}-${name}-packets`]: readOnly(counter('packets'), `${title} ${label} Packets`, packets, 'Status'),
    [`${prefix}-${name}-bytes`]: readOnly(bytes, `${title} ${label} Bytes`, 'IP bytes of these packets.', 'Status'),
  });
  return {
    ...way(
      'fast-path',
      'Fast Path',
      'Untracked flows may take the fast path.',
      'Packets of untracked flows that the fast path forwarded.',
    ),
    ...way(
      'flow-cache',
      'Flow Cache',
      'Tracked connections may take the fast path with what rules decided of their first packets.',
      'Packets of tracked connections, fasttracked ones left out, that the fast path forwarded.',
    ),
    ...way(
      'fasttrack',
      'Fasttrack',
      'A fasttrack rule exists or a fasttracked connection lives.',
      'Packets of fasttracked connections forwarded by the fast path.',
    ),
  };
}
