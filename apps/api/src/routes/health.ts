import type { FastifyInstance } from 'fastify';
import type { Services } from '../rest/services.js';
import { VERSION } from '../version.js';

/** 200 when the agent is connected and runs the newest configuration; 503 says what is missing. */
export function healthRoute(app: FastifyInstance, { store, live }: Services, ready: () => boolean): void {
  app.get('/healthz', { config: { public: true } }, async (_request, reply) => {
    const forwarding = live.connected && store.syncState === 'synced' && ready();
    return reply.code(forwarding ? 200 : 503).send({
      status: forwarding ? 'ok' : 'unavailable',
      forwarding,
      agent: store.syncState,
      revision: store.revision,
      version: VERSION,
    });
  });
}
