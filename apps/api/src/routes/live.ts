import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import type { Hub } from '../live/hub.js';
import { requireSameOrigin } from '../plugins/auth.js';

/** Largest message of a client, bytes. */
const MAX_MESSAGE = 64 << 10;

/** `/live`: the WebSocket with windowed topics. */
export async function liveRoute(app: FastifyInstance, hub: Hub): Promise<void> {
  await app.register(websocket, { options: { maxPayload: MAX_MESSAGE } });
  app.get(
    '/live',
    { websocket: true, preValidation: async (request) => requireSameOrigin(request) },
    (socket, request) => hub.accept(socket, request.principal),
  );
}
