/** Login session and its user. */
import type { ErrorBody } from '@tollway/protocol/errors';
import type { StatusMessage } from '@tollway/protocol/live/status';
import type { login as loginRoute, logout as logoutRoute, SessionAnswer, setup } from '@tollway/protocol/session';
import { create } from 'zustand';
import { ask, idempotent, isObject, onUnauthorized, RequestError, request, setRequestUser } from './rest.ts';

interface User {
  /** `.id` in `/user`, as a user may be renamed. */
  readonly id: string;
  readonly name: string;
  readonly group: string;
}

type Session =
  | { readonly phase: 'unknown' }
  /**
   * `setup`: no password has been set yet. `expired`: the user whose session has ended other than by a logout in this
   * page.
   */
  | { readonly phase: 'out'; readonly setup: boolean; readonly expired?: User; readonly problem?: string }
  /** Logins are impossible; `problem` is the router's explanation and remedy. */
  | { readonly phase: 'unavailable'; readonly problem: string }
  /** `problem`: reason why the management plane does not work now, with a remedy; a text of the router. */
  | {
      readonly phase: 'in';
      readonly id: string;
      readonly name: string;
      readonly group: string;
      readonly version: string;
      /** Time zone of the router, of the tz database; empty if unknown. */
      readonly timeZone: string;
      readonly problem?: string;
    };

export const useSession = create<Session>(() => ({ phase: 'unknown' }));

/** Name of the logged-in user. */
export function loggedIn(): string | undefined {
  const session = useSession.getState();
  return session.phase === 'in' ? session.name : undefined;
}

function replace(next: Session): void {
  setRequestUser(next.phase === 'in' ? next.id : next.phase === 'out' ? next.expired?.id : undefined);
  useSession.setState(next, true);
}

/**
 * Requests the user of the session from the server. An unreachable or faulty server does not log the user out: the page
 * stays open with all input. Another user than before is accepted only with `anybody`, after a login in this page, as
 * another tab may have logged in another user.
 */
export async function refreshSession(anybody = false): Promise<void> {
  let response: Response;
  try {
    response = await fetch('/api/v1/session', { credentials: 'same-origin' });
  } catch {
    if (useSession.getState().phase === 'unknown') {
      replace({ phase: 'out', setup: false, problem: 'The router does not answer.' });
    }
    setProblem(undefined);
    return;
  }
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    body = undefined;
  }
  const fields: Partial<SessionAnswer & ErrorBody> = isObject(body) ? body : {};
  const before = useSession.getState();
  if (response.ok) {
    const whose = before.phase === 'in' ? before.id : before.phase === 'out' ? before.expired?.id : undefined;
    if (!anybody && whose !== undefined && whose !== fields.id) {
      expire(false);
      return;
    }
    replace({
      phase: 'in',
      id: fields.id ?? '',
      name: fields.name ?? '',
      group: fields.group ?? '',
      version: fields.version ?? '',
      timeZone: fields['time-zone'] ?? '',
    });
  } else if (response.status === 401) {
    expire(fields.setup === true);
  } else if (response.status === 503 && fields.detail !== undefined) {
    if (before.phase === 'in') setProblem(fields.detail);
    // The windows remain while their user is asked for the password again.
    else if (before.phase !== 'out' || before.expired === undefined) {
      replace({ phase: 'unavailable', problem: fields.detail });
    }
  } else {
    setProblem(undefined);
    if (before.phase === 'unknown') {
      replace({ phase: 'out', setup: false, problem: 'The router is starting; try again in a moment.' });
    }
  }
}

/**
 * Stores why the management plane does not work, for an open page; undefined when it works, or when this is unknown.
 */
export function setProblem(problem: string | undefined): void {
  const session = useSession.getState();
  if (session.phase !== 'in' || session.problem === problem) return;
  const { problem: _over, ...rest } = session;
  replace(problem === undefined ? rest : { ...rest, problem });
}

/** Logs in. @throws {RequestError} with the reason. */
export async function login(name: string, password: string): Promise<void> {
  try {
    await idempotent(ask<typeof loginRoute>('POST', '/api/v1/login', { name, password }));
  } catch (error) {
    if (error instanceof RequestError && error.status === 401) {
      throw new RequestError(401, 'Login failed: wrong user name or password.');
    }
    throw error;
  }
  await enter('The router did not answer after the login. Try again.');
}

/** Sets the first password and logs in. @throws {RequestError} with the reason. */
export async function setUp(token: string, password: string): Promise<void> {
  await ask<typeof setup>('POST', '/api/v1/setup', { token, password });
  await enter('The password is set, but the router did not answer then. Reload the page.');
}

/** Requests the user who has logged in. @throws {RequestError} with `unanswered` when the router does not answer. */
async function enter(unanswered: string): Promise<void> {
  await refreshSession(true);
  if (useSession.getState().phase === 'out') throw new RequestError(0, unanswered);
}

/** Changes the password of the logged-in user. @throws {RequestError} with the server's reason. */
export async function changePassword(values: Readonly<Record<string, string>>): Promise<void> {
  await request('POST', '/rest/password', values);
}

/** Updates name and group of the logged-in user. */
export function updateUser(user: StatusMessage['user']): void {
  const session = useSession.getState();
  if (session.phase !== 'in' || user === undefined) return;
  const { name, group } = user;
  if (name !== session.name || group !== session.group) replace({ ...session, name, group });
}

/** Ends the session here and on the server. */
export async function logout(): Promise<void> {
  try {
    await ask<typeof logoutRoute>('POST', '/api/v1/logout');
  } finally {
    forgetSession();
  }
}

/** Shows the login page. */
export function forgetSession(): void {
  replace({ phase: 'out', setup: false });
}

/** Shows that the server has no session for the cookie. */
function expire(setup: boolean): void {
  const session = useSession.getState();
  if (session.phase === 'in' && !setup)
    replace({ phase: 'out', setup, expired: { id: session.id, name: session.name, group: session.group } });
  else if (session.phase !== 'out' || session.setup !== setup) replace({ phase: 'out', setup });
}

onUnauthorized(() => {
  if (useSession.getState().phase === 'in') expire(false);
});
