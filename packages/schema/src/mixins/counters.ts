import type { Prop } from '../menu.js';
import { bytes } from '../props/bytes.js';
import { counter } from '../props/counter.js';
import { readOnly } from './read-only.js';

/** Counters of a firewall rule since it was made or its counters were reset. */
export const counters = (tab = 'Statistics'): { readonly bytes: Prop; readonly packets: Prop } => ({
  bytes: { ...readOnly(bytes, 'Bytes', 'IP bytes of the packets that matched.', tab), pinned: true },
  packets: { ...readOnly(counter('packets'), 'Packets', 'Packets that matched.', tab), pinned: true },
});
