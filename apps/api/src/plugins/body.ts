import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errors } from '../errors.js';
import { clientGone } from './auth.js';
import { BodyMemory } from './body-memory.js';
import { parseJson } from './json.js';

/** Maximum size of a request body, bytes. */
const MAX_BODY = 8 << 20;
/** Maximum size of the body of a request that needs no login, bytes. */
const MAX_PUBLIC_BODY = 4 << 10;
/**
 * A body that is too long is received and discarded up to this multiple of the limit, so that the client reads the
 * response.
 */
const DISCARDED = 8;
/** Size above which decoding a body takes milliseconds, bytes. */
const LONG = 1 << 20;
/** Time for which a client may continue to send the body of a refused request, ms. */
const LINGER_MS = 1_000;

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Whether a body is uncompressed and in UTF-8, as required for JSON (RFC 8259 §8.1). */
const isPlain = (type: string, encoding: string): boolean =>
  /^identity$/i.test(encoding) && /^utf-?8$/i.test(/;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type)?.[1] ?? 'utf-8');

/**
 * Parses bodies as JSON. An empty body is treated as absent, whatever its content type.
 * @param publicMs time limit for the body of a request that needs no login, ms
 */
export function jsonBodies(app: FastifyInstance, publicMs: number): void {
  const notJson = new WeakSet<FastifyRequest>();
  const gone = new WeakMap<FastifyRequest, AbortSignal>();
  const room = new BodyMemory();
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', async (request) => {
    const type = request.headers['content-type'];
    // Pages of other sites can send any other type, or none, without a CORS preflight.
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (type === undefined || !JSON_TYPE.test(type) || !isPlain(type, encoding)) notJson.add(request);
    // Fastify refuses an invalid media type before it calls a parser.
    if (type !== undefined) request.raw.headers['content-type'] = 'application/json';
  });
  app.addHook('preParsing', async (request, reply) => {
    gone.set(request, clientGone(reply));
  });
  app.addHook('onResponse', async ({ raw }) => {
    // Node would receive the rest of a refused body, however long it is.
    if (raw.complete) return;
    const { socket } = raw;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    raw.once('end', () => clearTimeout(timer));
  });
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    const { raw } = request;
    // No request without a login needs a long body, whatever its path.
    const open = request.principal === undefined;
    const limit = open ? MAX_PUBLIC_BODY : MAX_BODY;
    const length = lengthOf(raw);
    const wait = async (part: 'acquire' | 'read', bytes: number) => {
      const signal = gone.get(request);
      if (!open && signal !== undefined) await room[part](request.principal.userId, bytes, signal);
    };
    if (length > limit * DISCARDED && raw.headers['content-length'] !== undefined) {
      // The body is longer than what is received and discarded.
      raw.resume();
      throw errors.bodyTooLarge(limit);
    }
    if (length <= limit) await wait('acquire', length);
    const body = await bytesOf(raw, limit, open ? publicMs : undefined);
    await wait('read', body.length);
    const text = await bodyText(body);
    if (text === '') return undefined;
    if (notJson.has(request)) throw errors.unsupportedMediaType();
    return parseJson(text);
  });
}

/**
 * Text of a body. A long one is joined, decoded and parsed in separate turns of the event loop.
 * @throws ApiError for invalid UTF-8, of which all invalid bytes would become U+FFFD.
 */
async function bodyText(body: Buffer): Promise<string> {
  if (!isUtf8(body)) throw errors.badRequest('the body is not valid UTF-8');
  if (body.length < LONG) return body.toString('utf8');
  await setImmediate();
  const text = body.toString('utf8');
  await setImmediate();
  return text;
}

/** Length of a body by its header, bytes; the maximum without such a header. */
function lengthOf({ headers }: IncomingMessage): number {
  const length = headers['content-length'];
  return length === undefined ? MAX_BODY : Number(length);
}

/** The complete body. @throws ApiError when it is longer than `limit` bytes or takes longer than `ms`. */
async function bytesOf(raw: IncomingMessage, limit: number, ms: number | undefined): Promise<Buffer> {
  // Leaving a loop over the message would destroy the message, and Node detaches the socket of a destroyed message: the
  // response could not be sent.
  const pieces: AsyncIterator<Buffer> = raw.iterator({ destroyOnReturn: false });
  const chunks: Buffer[] = [];
  let length = 0;
  const deadline = ms === undefined ? undefined : deadlineIn(ms);
  try {
    while (length <= limit * DISCARDED) {
      const piece = await (deadline === undefined ? pieces.next() : Promise.race([pieces.next(), deadline.over]));
      if (piece === undefined) {
        raw.resume();
        throw errors.bodyTooSlow(ms ?? 0);
      }
      if (piece.done === true) break;
      length += piece.value.length;
      if (length <= limit) chunks.push(piece.value);
      else chunks.length = 0;
    }
  } finally {
    deadline?.forget();
  }
  if (length > limit) {
    raw.resume();
    throw errors.bodyTooLarge(limit);
  }
  return Buffer.concat(chunks);
}

/** Resolves after a time, unless it is cancelled. */
function deadlineIn(ms: number): { readonly over: Promise<undefined>; readonly forget: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms).unref();
  });
  return { over, forget: () => clearTimeout(timer) };
}
