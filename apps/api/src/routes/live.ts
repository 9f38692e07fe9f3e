import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import { errors } from '../errors.js';
import type { Hub } from '../live/hub.js';

/** Maximum size of a message of a client, bytes. */
const MAX_MESSAGE = 64 << 10;

/** `/live`: the WebSocket for live topics. */
export async function liveRoute(app: FastifyInstance, hub: Hub): Promise<void> {
  await app.register(websocket, {
    // One message per turn, so that thousands of messages do not delay other users.
    options: { maxPayload: MAX_MESSAGE, allowSynchronousEvents: false },
    // Protocol errors of a client (WS_ERR_…, ECONNRESET) are not our errors, and may occur any number of times.
    errorHandler(error, socket, request) {
      if (!('code' in error)) request.log.error(error);
      socket.terminate();
    },
    preClose(done) {
      hub.close();
      this.websocketServer.close();
      done();
    },
  });
  // After a refused upgrade Node does not close the socket itself.
  app.addHook('onResponse', async (request) => {
    if (request.headers.upgrade !== undefined) request.raw.socket.destroySoon();
  });
  app.route({
    method: 'GET',
    url: '/live',
    wsHandler: (socket, request) => hub.accept(socket, request.principal),
    handler: () => {
      throw errors.upgradeRequired();
    },
  });
}
