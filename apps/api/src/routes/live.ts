import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import { errors } from '../errors.js';
import type { Hub } from '../live/hub.js';

/** Largest message of a client, bytes. */
const MAX_MESSAGE = 64 << 10;

/** `/live`: the WebSocket with windowed topics. */
export async function liveRoute(app: FastifyInstance, hub: Hub): Promise<void> {
  await app.register(websocket, {
    // One message per turn, so that thousands of messages do not delay other users.
    options: { maxPayload: MAX_MESSAGE, allowSynchronousEvents: false },
    // What a client does wrong on the wire (WS_ERR_…, ECONNRESET) is no error of ours, and it may do so any number of times.
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
  // Node leaves the socket of a refused upgrade to nobody.
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
