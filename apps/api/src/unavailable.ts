import fastify, { type FastifyInstance, type FastifyReply, LogController } from 'fastify';
import type { AgentPort } from './agent/port.js';
import type { AppOptions } from './app.js';
import type { Log } from './config/store.js';
import type { DatabaseFault } from './database/fault.js';
import { errorBody } from './errors.js';
import { Connections } from './plugins/connections.js';
import { requestOrigin } from './plugins/origin.js';
import { securityHeaders } from './plugins/security-headers.js';
import { singlePageApp } from './plugins/spa.js';
import { VERSION } from './version.js';

interface Options {
  readonly agent: (log: Log) => AgentPort;
  readonly webRoot: string | undefined;
  readonly logLevel: string;
  /** Names of the router, as in {@link AppOptions}. */
  readonly names: AppOptions['names'];
}

/**
 * The application while the database cannot be used. It serves the page, and responds to all other requests with 503,
 * the problem and the remedy. The agent continues with its present configuration, which nothing here changes.
 */
export async function unavailableApp(fault: DatabaseFault, options: Options): Promise<FastifyInstance> {
  const connections = new Connections();
  const app = fastify({
    serverFactory: connections.serve,
    logger: { level: options.logLevel, stream: process.stderr },
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    clientErrorHandler: connections.broken,
    bodyLimit: 4096,
  });
  const agent = options.agent(app.log);
  securityHeaders(app);
  requestOrigin(app, options.names);
  const refuse = (reply: FastifyReply, more: object = {}) =>
    reply
      .code(503)
      .type('application/json')
      .send({ ...errorBody(503, fault.text), ...more });
  app.setErrorHandler((_error, _request, reply) => refuse(reply));
  app.get('/healthz', async (_request, reply) =>
    reply.code(503).send({
      status: 'unavailable',
      forwarding: agent.hello !== undefined && agent.hello.revision > 0,
      concerns: 'database',
      problem: fault.message,
      remedy: fault.remedy,
      agent: agent.hello === undefined ? 'down' : 'unmanaged',
      revision: agent.hello?.revision ?? 0,
      version: VERSION,
    }),
  );
  for (const url of ['/rest', '/rest/*', '/api/*', '/docs', '/docs/*', '/live', '/metrics']) {
    app.all(url, async (_request, reply) => refuse(reply));
  }
  // Node leaves upgraded sockets to the listener, and close() would wait for them: an open page would prevent the
  // restart of the management.
  app.server.on('upgrade', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n', () =>
      socket.destroy(),
    );
  });
  await singlePageApp(app, options.webRoot);
  app.addHook('onClose', async () => agent.close());
  agent.open();
  return app;
}
