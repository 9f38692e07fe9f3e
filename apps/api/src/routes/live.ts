import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import type { Hub } from '../live/hub.js';

/** Largest message of a client, bytes. */
const MAX_MESSAGE = 64 << 10;

/** `/live`: the WebSocket with windowed topics. */
export async function liveRoute(app: FastifyInstance, hub: Hub): Promise<void> {
  await app.register(websocket, {
    options: { maxPayload: MAX_MESSAGE },
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
  app.get('/live', { websocket: true }, (socket, request) => hub.accept(socket, request.principal));
}
