import {
  setup as firstPassword,
  type LoggedIn,
  login,
  logout,
  MAX_NAME,
  MAX_PASSWORD,
  type SessionAnswer,
  session,
} from '@tollway/protocol/session';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator, Principal } from '../auth/authenticator.js';
import { refusePassword } from '../auth/passwords.js';
import type { SetupToken } from '../auth/setup-token.js';
import { FIRST_USER, type User } from '../auth/users.js';
import { record } from '../database/audit.js';
import { unlessFault } from '../database/fault.js';
import { errors } from '../errors.js';
import { COOKIE, clientGone, setSessionCookie } from '../plugins/auth.js';
import type { ProtocolTypes } from '../plugins/validation.js';
import type { Services } from '../services.js';
import { identityOf } from '../snapshot/identity.js';
import { rowIdText } from '../snapshot/snapshot.js';
import { VERSION } from '../version.js';

/** Logging in and out, and setting the first password. */
export function sessionRoutes(
  app: FastifyInstance,
  services: Services,
  authenticator: Authenticator,
  setup: SetupToken,
): void {
  const { users, sessions, db, log } = services;
  const routes = app.withTypeProvider<ProtocolTypes>();

  const begin = async (request: FastifyRequest, reply: FastifyReply, user: User): Promise<LoggedIn> => {
    setSessionCookie(request, reply, await sessions.begin(user.id, request.ip));
    await users.loggedIn(user.id);
    log.add('system,info,account', `user ${user.name} logged in from ${request.ip} via web`);
    await record(db, { user: user.name, address: request.ip, action: 'login', detail: 'web' }).catch(unlessFault);
    return { name: user.name, group: user.group };
  };

  routes.post(login.path, { schema: { body: login.body }, config: { public: true } }, async (request, reply) => {
    const { name, password } = request.body;
    refuseLong('name', name, MAX_NAME);
    refuseLong('password', password, MAX_PASSWORD);
    return begin(request, reply, await authenticator.login(name, password, request.ip, clientGone(reply)));
  });

  routes.post(
    firstPassword.path,
    { schema: { body: firstPassword.body }, config: { public: true } },
    async (request, reply) => {
      const { token, password } = request.body;
      if (!users.needsSetup || !setup.matches(token)) throw errors.unauthorized();
      const refused = refusePassword(password);
      if (refused !== undefined) throw errors.badProperty('password', refused);
      const admin = await setup.use(token, () => setFirstPassword(services, password));
      if (admin === undefined) throw errors.unauthorized();
      return begin(request, reply, admin);
    },
  );

  routes.get(session.path, { config: { public: true } }, async (request, reply) => {
    const token = request.cookies[COOKIE];
    const principal = token === undefined ? undefined : authenticator.byCookie(token, request.ip);
    if (principal === undefined) {
      return reply.code(401).send({ ...errors.unauthorized().body(), setup: users.needsSetup });
    }
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const answer: SessionAnswer = {
      ...person(principal),
      identity: identityOf(services.store.snapshot),
      version: VERSION,
      'time-zone': zone,
    };
    return answer;
  });

  routes.post(logout.path, async (request, reply) => {
    const { name, session } = request.principal;
    const stored = session === undefined || (await sessions.end(session));
    log.add('system,info,account', `user ${name} logged out from ${request.ip} via web`);
    await record(db, { user: name, address: request.ip, action: 'logout', detail: 'web' }).catch(unlessFault);
    reply.clearCookie(COOKIE, { path: '/' });
    if (!stored) throw errors.logoutNotStored();
    reply.code(204);
  });
}

const person = ({ userId, name, group }: Principal) => ({ id: rowIdText(userId), name, group });

/** Gives the first user a password and full rights. */
export async function setFirstPassword({ users }: Pick<Services, 'users'>, password: string): Promise<User> {
  const content = { name: FIRST_USER, group: 'full', disabled: false, comment: '', password } as const;
  const admin = users.byName(FIRST_USER);
  const note = { user: FIRST_USER, address: '', action: 'password', detail: 'first password set' };
  const [user] = await users.change(
    [admin === undefined ? { do: 'add', content } : { do: 'set', id: admin.id, content }],
    [note],
  );
  if (user === undefined) throw errors.unauthorized();
  return user;
}

function refuseLong(property: string, text: string, most: number): void {
  if (text.length > most) throw errors.badProperty(property, `value of ${property}: give at most ${most} characters`);
}
