import type { FastifyInstance } from 'fastify';
import { AHEAD_REMEDY, type SyncState } from '../config/agent-sync.js';
import type { DatabaseWatch } from '../database/watch.js';
import type { Services } from '../services.js';
import type { FolderProblem } from '../state/data-folder.js';
import { VERSION } from '../version.js';

/** Problem by which the newest configuration is not in force, and its remedy. */
const AGENT_TROUBLE: Readonly<Record<SyncState, { readonly problem: string; readonly remedy: string } | undefined>> = {
  synced: undefined,
  down: {
    problem: 'The data plane does not answer: if it has ended, nothing is forwarded until it is back.',
    remedy:
      'One that has ended is started again by itself; if it is not back in a minute, stop the router and start it.',
  },
  behind: {
    problem: 'The data plane does not have the newest configuration yet.',
    remedy: 'It is sent again by itself; wait a few seconds.',
  },
  ahead: {
    problem:
      'The data plane forwards by a newer configuration than that of the database, which can change nothing now.',
    remedy: AHEAD_REMEDY,
  },
  refused: {
    problem: 'The data plane refuses the newest configuration and forwards by the one before.',
    remedy: 'The log says which row it refuses: change or disable that row.',
  },
};

/** The data plane has the newest configuration, but rows of new ports, or the default configuration, are not stored yet. */
const NOT_READY = {
  problem: 'The rows of ports that are new, or the default configuration, could not be stored yet.',
  remedy: 'That is tried again by itself; if it does not pass in a minute, the log of the API says why it fails.',
};

/**
 * Problem of the agent's folder. While the agent is down, the folder must be made writable before the agent can start
 * again.
 */
function folderConcern({ problem, remedy }: FolderProblem, isUp: boolean) {
  const down = isUp ? '' : ' It cannot start either as long as that is so, and nothing is forwarded.';
  return { concerns: 'data-folder', problem: `${problem}${down}`, remedy };
}

/**
 * 200 when the agent is connected and runs the newest configuration, and the next one can be stored; otherwise 503 with
 * the problem. `forwarding`: whether the agent forwards packets, even by another configuration.
 */
export function healthRoute(
  app: FastifyInstance,
  { store, live }: Services,
  ready: () => boolean,
  watch: DatabaseWatch | undefined,
  folderProblem: () => FolderProblem | undefined,
): void {
  app.get('/healthz', { config: { public: true } }, async (_request, reply) => {
    const { syncState } = store;
    const forwarding = live.connected && (syncState === 'synced' || store.activeRevision > 0);
    const fault = watch?.fault;
    const trouble = folderProblem();
    const well = forwarding && syncState === 'synced' && ready() && fault === undefined && trouble === undefined;
    const agent = AGENT_TROUBLE[live.connected ? syncState : 'down'];
    const missing = agent ?? (ready() ? undefined : NOT_READY);
    const concerning =
      trouble !== undefined && (agent === undefined || (trouble.ofAgent && !live.connected))
        ? folderConcern(trouble, live.connected)
        : missing && { concerns: 'data-plane', ...missing };
    return reply.code(well ? 200 : 503).send({
      status: well ? 'ok' : 'unavailable',
      forwarding,
      ...(fault ? { concerns: 'database', problem: fault.message, remedy: fault.remedy } : concerning),
      agent: syncState,
      revision: store.revision,
      version: VERSION,
    });
  });
}
