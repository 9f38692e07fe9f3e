import type { FastifyInstance } from 'fastify';
import { errors } from '../errors.js';

/** Largest request body that is read, bytes. */
export const MAX_BODY = 8 << 20;
/** A longer body is still taken in and thrown away up to here, so that the client gets to read the answer. */
const MAX_DISCARD = 64 << 20;

/**
 * Reads bodies as JSON whatever their content type says: clients send it wrong, or not at all.
 * An empty body is no body.
 */
export function jsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', async (request) => {
    // The framework refuses what is no media type at all before a parser is asked.
    if (request.headers['content-type'] !== undefined) request.raw.headers['content-type'] = 'application/json';
  });
  app.addContentTypeParser('*', async (_request: unknown, payload: NodeJS.ReadableStream) => {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of payload) {
      const bytes = Buffer.from(chunk);
      length += bytes.length;
      if (length <= MAX_BODY) chunks.push(bytes);
      else if (length > MAX_DISCARD) break;
    }
    if (length > MAX_BODY) throw errors.badRequest(`the body is larger than ${MAX_BODY >> 20} MiB`);
    return parseJson(Buffer.concat(chunks).toString('utf8'));
  });
}

function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text, refuseProto);
  } catch (error) {
    throw errors.badRequest(`the body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A key `__proto__` would not become a property of the object. */
function refuseProto(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new Error('unknown parameter __proto__');
  return value;
}
