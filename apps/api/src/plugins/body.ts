import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errors } from '../errors.js';
import { parseJson } from './json.js';

/** Largest request body that is read, bytes. */
export const MAX_BODY = 8 << 20;
/** Largest body of a request that needs no login, bytes. */
export const MAX_PUBLIC_BODY = 4 << 10;
/** A longer body is still taken in and thrown away up to so many times its limit, so that the client gets to read the answer. */
const DISCARDED = 8;
/** How long the body of a request that needs no login may take, ms. */
const PUBLIC_BODY_MS = 10_000;
/** How long a refused request may go on sending its body, ms. */
const LINGER_MS = 1_000;

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Reads bodies as JSON. An empty body is no body, whatever its content type says. */
export function jsonBodies(app: FastifyInstance): void {
  const notJson = new WeakSet<FastifyRequest>();
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', async (request) => {
    const type = request.headers['content-type'];
    // Pages of other sites can send any other type, or none, without being asked.
    if (type === undefined || !JSON_TYPE.test(type)) notJson.add(request);
    // The framework refuses what is no media type at all before a parser is asked.
    if (type !== undefined) request.raw.headers['content-type'] = 'application/json';
  });
  app.addHook('onResponse', async ({ raw }) => {
    // Node would take in the rest of a refused body however long it is.
    if (raw.complete) return;
    const { socket } = raw;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    raw.once('end', () => clearTimeout(timer));
  });
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    const open = request.routeOptions.config.public === true;
    const text = await textOf(request.raw, open ? MAX_PUBLIC_BODY : MAX_BODY, open ? PUBLIC_BODY_MS : undefined);
    if (text === '') return undefined;
    if (notJson.has(request)) throw errors.unsupportedMediaType();
    return parseJson(text);
  });
}

/** The whole body. @throws ApiError for one that is longer than `limit` bytes or takes longer than `ms`. */
async function textOf(raw: IncomingMessage, limit: number, ms: number | undefined): Promise<string> {
  const timer = ms === undefined ? undefined : setTimeout(() => raw.socket.destroy(), ms).unref();
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // Leaving a loop over the message itself would destroy it, and Node takes the socket off a message that it destroys:
    // there would be nothing left to send the refusal on.
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      const bytes = Buffer.from(chunk);
      length += bytes.length;
      if (length <= limit) chunks.push(bytes);
      else if (length > limit * DISCARDED) break;
    }
  } finally {
    clearTimeout(timer);
  }
  if (length > limit) {
    raw.resume();
    throw errors.bodyTooLarge(limit);
  }
  return Buffer.concat(chunks).toString('utf8');
}
