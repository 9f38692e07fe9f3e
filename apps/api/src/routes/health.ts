import type { FastifyInstance } from 'fastify';
import { AHEAD_REMEDY, type SyncState } from '../config/agent-sync.js';
import type { DatabaseWatch } from '../database/watch.js';
import type { Services } from '../services.js';
import type { FolderProblem } from '../state/data-folder.js';
import { VERSION } from '../version.js';

/** Problem that keeps the newest configuration from being in force, and its remedy. */
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

/** The data plane has the newest configuration, but what follows from its ports is not part of it yet. */
const NOT_READY = {
  problem: 'The rows of ports that are new, or the default configuration, could not be stored yet.',
  remedy: 'That is tried again by itself; if it does not pass in a minute, the log of the API says why it fails.',
};

/** An agent that is down does not start again as long as its folder takes nothing, which is what has to be mended then. */
function folderConcern({ problem, remedy }: FolderProblem, isUp: boolean) {
  const down = isUp ? '' : ' It cannot start either as long as that is so, and nothing is forwarded.';
  return { concerns: 'data-folder', problem: `${problem}${down}`, remedy };
}

/**
 * 200 when the agent is connected and runs the newest configuration, and the next one can be stored; 503 says what is missing. `forwarding`: whether the
 * agent forwards, be it by another configuration.
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
