/** Load of the connection table, shared by several windows. */
import { live } from '../../../../api/live.ts';
import { RowsTopic } from '../../../../api/rows-topic.ts';

export const tracking = new RowsTopic(
  live,
  '/ip/firewall/connection/tracking',
  { count: 1, columns: ['max-entries', 'worker-max-entries', 'worker-entries', 'total-entries', 'active-ipv4'] },
  2000,
);

const figure = (name: string): number => Number(tracking.rows[0]?.[name] ?? 0);

/** Maximum number of connections; 0 while unknown. */
export const maxEntries = (): number => figure('max-entries');

/** Used share of the connection table of the worker with the most connections, 0 to 1; 0 while unknown. */
export function fullestShare(): number {
  const most = figure('worker-max-entries');
  return most > 0 ? figure('worker-entries') / most : 0;
}
