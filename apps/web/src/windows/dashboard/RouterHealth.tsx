/**
 * The line at the top of the dashboard: the health of the router, with links to windows that show details of a problem.
 */
import { useCallback, useRef, useSyncExternalStore } from 'react';
import { type Connection, isStale, useConnection } from '../../api/connection.ts';
import { useSession } from '../../api/session.ts';
import { useStatus } from '../../api/status.ts';
import { trafficSamples } from '../../api/traffic.ts';
import { useVisible } from '../../ui/visibility.ts';
import { fullestShare, maxEntries } from '../ip/firewall/connection/tracking.ts';
import { lostLinks, onHealth } from './feeds.ts';
import { type Facts, type Finding, healthFindings, wellText } from './router-health.ts';

/** Number of past samples that are examined. */
const SAMPLES = 10;

/** Whether the router answers, depending on the state of the connection. */
function heardBy(connection: Connection): Facts['heard'] {
  if (isStale(connection)) return 'no-more';
  if (connection.liveness === 'logged-out') return 'logged-out';
  return connection.liveness === 'connecting' ? 'not-yet' : 'now';
}

function findings(heard: Facts['heard']): readonly Finding[] {
  const status = useStatus.getState();
  const session = useSession.getState();
  const recent = trafficSamples().slice(-SAMPLES);
  return healthFindings({
    heard,
    problem: session.phase === 'in' ? session.problem : undefined,
    engine: status.engine,
    alarms: status.alarms,
    lostLinks: lostLinks.rows.map((row) => row.name ?? ''),
    recent,
    connections: recent.at(-1)?.connections ?? 0,
    maxConnections: maxEntries(),
    fullestShare: fullestShare(),
    freeMemory: Number(status.freeMemory ?? 0),
    totalMemory: Number(status.totalMemory ?? 0),
  });
}

/** The findings; the same array while their content is unchanged. */
function useFindings(): readonly Finding[] {
  const visible = useVisible();
  const heard = heardBy(useConnection());
  const held = useRef<{ readonly key: string; readonly found: readonly Finding[] }>({ key: '[]', found: [] });
  const subscribe = useCallback((changed: () => void) => (visible ? onHealth(changed) : () => {}), [visible]);
  return useSyncExternalStore(subscribe, () => {
    const found = findings(heard);
    const key = JSON.stringify(found);
    if (held.current.key !== key) held.current = { key, found };
    return held.current.found;
  });
}

const MARK = { ok: '✓', warning: '!', trouble: '✕' } as const;
const WORDS = { ok: 'All is well', warning: 'Needs a look', trouble: 'Trouble' } as const;

export function RouterHealth() {
  const found = useFindings();
  const revision = useStatus((status) => status.revision);
  const engine = useStatus((status) => status.engine);
  const level = found[0]?.level ?? 'ok';
  return (
    <div className={`health health-${level}`} role="status" aria-label="State of the router">
      <strong>
        <span className="health-mark" aria-hidden="true">
          {MARK[level]}
        </span>
        {WORDS[level]}
      </strong>
      {found.length === 0 ? (
        <span>
          {engine === 'synced' ? wellText(`${revision ?? ''}`) : 'Bringing the newest configuration into force.'}
        </span>
      ) : (
        <ul>
          {found.map((finding) => (
            <li key={finding.text} className={`finding-${finding.level}`}>
              {finding.opens === undefined ? finding.text : <a href={finding.opens}>{finding.text}</a>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
