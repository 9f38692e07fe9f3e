import type { Prop } from '../menu.js';
import { bytes } from '../props/bytes.js';
import { counter } from '../props/counter.js';

/** Counters of a firewall rule since it was made or they were reset. */
export const counters = (tab = 'Statistics'): { readonly bytes: Prop; readonly packets: Prop } => ({
  bytes: { kind: bytes, label: 'Bytes', help: 'IP bytes of the packets that matched.', tab, readOnly: true },
  packets: { kind: counter('packets'), label: 'Packets', help: 'Packets that matched.', tab, readOnly: true },
});
