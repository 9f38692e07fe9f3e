/** How full the connection table is, for whatever shows it. */
import { live } from '../../api/live.ts';
import { Rows } from '../../api/rows.ts';

export const tracking = new Rows(
  live,
  '/ip/firewall/connection/tracking',
  { count: 1, columns: ['max-entries', 'total-entries', 'active-ipv4'] },
  2000,
);

/** Largest number of connections; 0 while unknown. */
export const maxEntries = (): number => Number(tracking.rows[0]?.['max-entries'] ?? 0);
