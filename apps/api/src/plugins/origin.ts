import { isIP } from 'node:net';
import { quoted } from '@tollway/schema';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback, oneAddress, plainAddress } from '../auth/address.js';
import { errors } from '../errors.js';

/**
 * Checks to which host name a request is sent, and from which page. A page of another site whose name resolves to the
 * router (DNS rebinding) is detected by `Host`. A page of another site that makes the browser send requests with the
 * user's credentials (CSRF) is detected by `Origin` and `Sec-Fetch-Site`. Clients other than browsers send neither of
 * these two.
 * @param names host names of the router besides its addresses, in lower case.
 */
export function requestOrigin(app: FastifyInstance, names: readonly string[]): void {
  app.addHook('onRequest', async (request) => {
    if (!request.url.startsWith('/')) throw errors.badRequest('the target of the request must be a path');
    // Node takes the first header, and a proxy may have used another one (RFC 9112 §3.2).
    if ((request.raw.headersDistinct.host?.length ?? 0) > 1) throw errors.badRequest('the header Host is given twice');
    const { host } = request.headers;
    if (host === undefined && request.raw.httpVersion === '1.1') throw errors.badRequest('the header Host is missing');
    if (host !== undefined && !answersTo(host, request.socket.localAddress, names)) {
      throw errors.misdirected(
        `this router does not answer to ${quoted(host)}; use its address, or start it with --name ${nameIn(host) ?? 'NAME'}`,
      );
    }
    requireSameOrigin(request);
  });
}

/** Name or address in `Host`, in lower case, without port and brackets; `undefined` for an invalid header. */
function nameIn(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '');
}

function answersTo(host: string, localAddress: string | undefined, names: readonly string[]): boolean {
  const name = nameIn(host);
  if (name === undefined) return false;
  if (names.includes(name)) return true;
  const own = plainAddress(localAddress ?? '');
  if (isIP(name)) return oneAddress(name) === oneAddress(own);
  return name === 'localhost' && isLoopback(own);
}

/** @throws ApiError 403 when the browser reports that another site caused the request. */
function requireSameOrigin(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  if (origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === host?.toLowerCase())) {
    throw errors.forbiddenOrigin(`requests from ${quoted(origin)} are not accepted`);
  }
  const site = request.headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  // Navigation by a link to the router is allowed.
  const safe = request.method === 'GET' || request.method === 'HEAD';
  if (safe && request.headers['sec-fetch-mode'] === 'navigate' && request.headers.upgrade === undefined) return;
  throw errors.forbiddenOrigin('requests from other sites are not accepted');
}
