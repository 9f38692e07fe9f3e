import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator, Principal } from '../auth/authenticator.js';
import { SESSION_MS } from '../auth/sessions.js';
import type { ConfigStore } from '../config/store.js';
import { errors } from '../errors.js';
import { requestTurn } from '../scheduling/time-slicer.js';
import { rowIdText } from '../snapshot/snapshot.js';
import type { Connections } from './connections.js';

export const COOKIE = 'tollway_session';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated user; set on all routes that are not public. */
    principal: Principal;
    /** The newest revision that the request has made; the response names it in the header `X-Tollway-Revision`. */
    revision: number | undefined;
  }
  interface FastifyContextConfig {
    /** Reachable without authentication. */
    public?: boolean;
  }
}

/** Paths of the API: a path below them that does not exist is not public. */
const apiPath = /^\/(rest|api|docs|live|metrics)(\/|$)/;

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? '';

/**
 * Whether a request is for a route of the API. Decided by the route, as any letter of a path may be escaped in the URL.
 */
const isOfApi = (request: FastifyRequest): boolean =>
  apiPath.test(request.is404 ? pathOf(request) : (request.routeOptions.url ?? ''));

export async function authentication(
  app: FastifyInstance,
  authenticator: Authenticator,
  connections: Connections,
  store: ConfigStore,
): Promise<void> {
  await app.register(cookie);
  app.decorateRequest('principal');
  app.decorateRequest('revision', undefined);
  app.addHook('onRequest', async (request) => {
    if (isOfApi(request)) store.refuseIfAgentAhead();
  });
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.public) return;
    if (request.is404 && !isOfApi(request)) return;
    const stored = (revision: number) => {
      request.revision = revision;
    };
    request.principal = { ...(await authenticate(authenticator, request, reply)), onRevision: stored };
    const { userId } = request.principal;
    connections.authenticated(request.raw.socket, userId);
    // Requests that waited for the same event, such as a password hash, are spread over turns of the event loop.
    await requestTurn(clientGone(reply), userId);
  });
  // Receiving the body may take long: rights are checked again when it is complete, and before its content is
  // validated.
  app.addHook('preValidation', async (request) => {
    const { principal } = request as { principal?: Principal };
    if (principal !== undefined) request.principal = authenticator.renewed(principal);
  });
  app.addHook('onSend', async (request, reply) => {
    if (request.revision !== undefined) reply.header('x-tollway-revision', String(request.revision));
  });
}

/** @throws ApiError 401, 429, or 403 for a change without the header that only the router's own page sends. */
async function authenticate(
  authenticator: Authenticator,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Principal> {
  const { authorization } = request.headers;
  if (authorization !== undefined) return authenticator.byBasic(authorization, request.ip, clientGone(reply));
  const token = request.cookies[COOKIE];
  const principal = token === undefined ? undefined : authenticator.byCookie(token, request.ip);
  if (principal === undefined) throw errors.unauthorized();
  // The tabs of a browser share one cookie: the page of one user must not act with the rights of another user.
  const meant = userMeant(request);
  if (meant !== undefined && meant !== rowIdText(principal.userId)) throw errors.unauthorized();
  const safe = request.method === 'GET' || request.method === 'HEAD';
  if (!safe && request.headers['x-tollway'] !== '1') {
    throw errors.forbiddenOrigin('the header X-Tollway: 1 is missing');
  }
  return principal;
}

/**
 * Id of the user that a page shows: the header `X-Tollway-User`, or for a WebSocket, which cannot set headers, the
 * parameter `user`.
 */
function userMeant({ headers, query }: FastifyRequest): string | undefined {
  const header = headers['x-tollway-user'];
  const words: unknown = headers.upgrade === undefined ? undefined : query;
  const word = typeof words === 'object' && words !== null && 'user' in words ? words.user : undefined;
  return typeof header === 'string' ? header : typeof word === 'string' ? word : undefined;
}

/** A signal that is aborted when the connection ends. It has no effect after the response. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}

export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  reply.setCookie(COOKIE, token, {
    httpOnly: true,
    sameSite: 'strict',
    secure: request.protocol === 'https',
    path: '/',
    maxAge: SESSION_MS / 1000,
  });
}
