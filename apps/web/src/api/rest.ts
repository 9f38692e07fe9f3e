/**
 * Requests to the API. Every change carries the header `X-Tollway: 1`, which a foreign page cannot send with the
 * cookie. Failures become {@link RequestError}; listeners are called when the session has expired.
 */

import type { Data, Schema } from '@tollway/protocol/data';
import type { Endpoint } from '@tollway/protocol/endpoint';
import { trackPending } from './pending.ts';

/** A request that the server refused, or that never reached it (`status` 0). */
export class RequestError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** The property at fault, if the server names one. */
  readonly property: string | undefined;

  constructor(status: number, message: string, property?: string) {
    super(message);
    this.status = status;
    this.property = property;
  }
}

/**
 * A change without a complete response. It is unknown whether the router has made it, as the connection may have been
 * lost before or after.
 */
export class Unanswered extends RequestError {
  constructor(message: string) {
    super(0, message);
  }
}

/** Timeout of a response, ms: the router ends every request within 60 s. */
const RESPONSE_TIMEOUT_MS = 70_000;

type Listener = () => void;
const unauthorizedListeners = new Set<Listener>();

/** Calls `listener` whenever a request is answered with 401. Returns the function that stops it. */
export function onUnauthorized(listener: Listener): () => void {
  unauthorizedListeners.add(listener);
  return () => unauthorizedListeners.delete(listener);
}

/** True for a plain JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Id of the user of this page; undefined before a login. */
let user: string | undefined;

/**
 * Sets the user of later requests. Another tab may log in another user, with the same cookie: the server refuses requests
 * that name a different user.
 */
export function setRequestUser(id: string | undefined): void {
  user = id;
}

/** Id of the user of requests. */
export function requestUser(): string | undefined {
  return user;
}

/** Message for an item that does not exist. */
export const GONE = 'the item does not exist any more';

async function errorFrom(response: Response): Promise<RequestError> {
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    body = undefined;
  }
  const fields = isObject(body) ? body : {};
  const detail = text(fields.detail) ?? text(fields.message) ?? `the server answered ${response.status}`;
  // The page shows no ids, and the item existed when the request was sent.
  if (/^no such item: \*[0-9A-F]+$/.test(detail)) return new RequestError(response.status, GONE);
  return new RequestError(response.status, detail, text(fields.property));
}

/** Response of the router. */
interface Answered {
  /** Decoded body; undefined when it is empty. */
  readonly body: unknown;
  /** The revision of the configuration that the request made; undefined when it made none. */
  readonly revision: number | undefined;
}

/** Sends a request as {@link send} does; resolves without the revision. */
export async function request(method: string, path: string, body?: unknown): Promise<unknown> {
  return (await send(method, path, body)).body;
}

type BodyOf<E extends Endpoint> = E extends { readonly body: infer S extends Schema } ? Data<S> : undefined;
type AnswerOf<E extends Endpoint> = E extends { readonly answer: infer S extends Schema } ? Data<S> : undefined;
/** A path with its parameters: `/api/v1/revisions/7` for `/api/v1/revisions/:revision`, with or without a query. */
type PathOf<P extends string> = P extends `${infer Before}:${string}/${infer After}`
  ? `${Before}${string}/${After}`
  : P extends `${infer Before}:${string}`
    ? `${Before}${string}`
    : P | `${P}?${string}`;

/**
 * Sends a request to a route of the protocol; the response has the type of its schema.
 * @param limitMs timeout of the response, ms
 * @throws {RequestError} as {@link send}
 */
export async function ask<E extends Endpoint>(
  method: E['method'],
  path: PathOf<E['path']>,
  body?: BodyOf<E>,
  limitMs?: number,
): Promise<AnswerOf<E>> {
  return (await send(method, path, body, limitMs)).body as AnswerOf<E>;
}

/**
 * Sends a request and returns the decoded response.
 *
 * @param limitMs timeout of the response, ms
 * @throws {RequestError} for every status other than 2xx, and when there is no response.
 */
export function send(method: string, path: string, body?: unknown, limitMs = RESPONSE_TIMEOUT_MS): Promise<Answered> {
  const sent = exchange(method, path, body, limitMs);
  return method === 'GET' ? sent : trackPending(sent);
}

async function exchange(method: string, path: string, body: unknown, limitMs: number): Promise<Answered> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (method !== 'GET') headers['x-tollway'] = '1';
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (user !== undefined) headers['x-tollway-user'] = user;
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      signal: AbortSignal.timeout(limitMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw method === 'GET'
      ? new RequestError(0, NO_ANSWER)
      : new Unanswered('No answer came, so it is not known whether this was done: look before you do it again.');
  }
  if (!response.ok) {
    const error = await errorFrom(response);
    if (response.status !== 401 || path === '/api/v1/login') throw error;
    for (const listener of unauthorizedListeners) listener();
    throw method === 'GET' ? error : new RequestError(401, SESSION_OVER);
  }
  const revision = revisionOf(response);
  const content = response.status === 204 ? '' : await contentOf(method, response);
  if (content === '') return { body: undefined, revision };
  try {
    return { body: JSON.parse(content), revision };
  } catch {
    throw new RequestError(response.status, 'the answer is not JSON; is this address a Tollway router?');
  }
}

/** Text beside the unsaved input, shown until after the next login. */
const SESSION_OVER = 'Nothing was changed: the session had ended. Do it again after the login.';
const NO_ANSWER = 'No answer from the router. Try again.';

/** Sends an idempotent request other than GET: it may be repeated when there was no response. */
export async function idempotent<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent;
  } catch (error) {
    throw error instanceof Unanswered ? new RequestError(0, NO_ANSWER) : error;
  }
}

async function contentOf(method: string, response: Response): Promise<string> {
  try {
    return await response.text();
  } catch {
    throw method === 'GET'
      ? new RequestError(0, 'The answer of the router broke off. Try again.')
      : new Unanswered('The answer of the router broke off. Look whether the change was made before you try again.');
  }
}

function revisionOf({ headers }: Response): number | undefined {
  const revision = Number(headers.get('x-tollway-revision'));
  return Number.isSafeInteger(revision) && revision > 0 ? revision : undefined;
}
