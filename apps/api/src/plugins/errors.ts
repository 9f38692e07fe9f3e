import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorBody } from '@tollway/protocol/errors';
import type { FastifyError, FastifyInstance } from 'fastify';
import { AgentGone, AgentRefusal } from '../agent/messages.js';
import { DatabaseFault } from '../database/fault.js';
import type { DatabaseWatch } from '../database/watch.js';
import { ApiError, errorBody, errors } from '../errors.js';

/** Gives all error responses the same format, without internal details. */
export function errorAnswers(app: FastifyInstance, watch?: DatabaseWatch): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const fault = watch?.recordError(error);
    const body = bodyOf(fault ?? error);
    // A client that disconnects during a request is no error, and may do so any number of times. An unusable database
    // is reported once, and not at each request.
    const reported = request.raw.socket.destroyed || fault !== undefined;
    if (body.error >= 500 && !reported && !(error instanceof ApiError || error instanceof AgentGone))
      request.log.error(error);
    // Without the header for the page's own requests: a browser would open its password dialogue over the page.
    // Scripts, and people who open a URL, need the header.
    const mode = request.headers['sec-fetch-mode'];
    if (body.error === 401 && (mode === undefined || mode === 'navigate')) {
      reply.header('www-authenticate', 'Basic realm="Tollway", charset="UTF-8"');
    }
    if (error instanceof ApiError && error.retryAfterS !== undefined) reply.header('retry-after', error.retryAfterS);
    return reply.code(body.error).type('application/json').send(body);
  });
}

function bodyOf(error: FastifyError | DatabaseFault): ErrorBody {
  if (error instanceof ApiError) return error.body();
  if (error instanceof AgentGone) return errors.agentUnavailable().body();
  if (error instanceof DatabaseFault) return errors.databaseFault(error.text).body();
  if (error instanceof AgentRefusal) return errors.failure(error.message).body();
  const status = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
  return status >= 500 ? errorBody(500, 'internal error; see the log of the API') : errorBody(status, error.message);
}

/** Answers invalid HTTP, and requests with too many headers, which reach no route. */
export function brokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const body = JSON.stringify(errorBody(status));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
