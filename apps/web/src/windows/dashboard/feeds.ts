/** Feeds of the dashboard in addition to samples and profile: a few rows of some menus, sorted on the server. */
import { live } from '../../api/live.ts';
import { onProfile } from '../../api/profile.ts';
import { RowsTopic } from '../../api/rows-topic.ts';
import { useStatus } from '../../api/status.ts';
import { onTraffic } from '../../api/traffic.ts';
import type { Subscribe } from '../../ui/use-live.ts';
import { tracking } from '../ip/firewall/connection/tracking.ts';

/** Number of rows of the tables "top interfaces" and "top queues". */
export const TOP = 5;

export const topInterfaces = new RowsTopic(
  live,
  '/interface',
  {
    count: TOP,
    columns: ['name', 'tx-bits-per-second', 'rx-bits-per-second', 'running'],
    // The sum of both directions.
    sort: { by: 'tx-bits-per-second+rx-bits-per-second', desc: true },
  },
  1000,
);

export const topQueues = new RowsTopic(
  live,
  '/queue/simple',
  { count: TOP, columns: ['name', 'rate', 'max-limit'], sort: { by: 'rate.upload+rate.download', desc: true } },
  2000,
);

/** Enabled interfaces that had a link and lost it. */
export const lostLinks = new RowsTopic(
  live,
  '/interface',
  {
    count: TOP,
    columns: ['name'],
    filter: { running: 'false', disabled: 'false', 'link-downs': { op: 'more', value: '0' } },
  },
  2000,
);

/** Listens to several sources at once. */
function together(...all: readonly Subscribe[]): Subscribe {
  return (changed) => {
    const stops = all.map((each) => each(changed));
    return () => {
      for (const stop of stops) stop();
    };
  };
}

export const onHealth: Subscribe = together(onTraffic, tracking.listen, lostLinks.listen, (changed) =>
  useStatus.subscribe(changed),
);
export const onCores: Subscribe = together(onTraffic, onProfile);
export const onConnections: Subscribe = together(onTraffic, tracking.listen);
