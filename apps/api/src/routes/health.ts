import type { FastifyInstance } from 'fastify';
import type { DatabaseWatch } from '../database/watch.js';
import type { Services } from '../rest/services.js';
import { VERSION } from '../version.js';

/** 200 when the agent is connected and runs the newest configuration; 503 says what is missing. */
export function healthRoute(
  app: FastifyInstance,
  { store, live }: Services,
  ready: () => boolean,
  watch: DatabaseWatch | undefined,
): void {
  app.get('/healthz', { config: { public: true } }, async (_request, reply) => {
    const forwarding = live.connected && store.syncState === 'synced' && ready();
    const fault = watch?.fault;
    const well = forwarding && fault === undefined;
    return reply.code(well ? 200 : 503).send({
      status: well ? 'ok' : 'unavailable',
      forwarding,
      ...(fault && { problem: fault.message, remedy: fault.remedy }),
      agent: store.syncState,
      revision: store.revision,
      version: VERSION,
    });
  });
}
