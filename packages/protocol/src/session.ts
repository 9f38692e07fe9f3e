import { Type } from 'typebox';
import type { Data } from './data.js';
import type { Endpoint } from './endpoint.js';

/** Maximum length of a login name, characters. */
export const MAX_NAME = 64;
/** Maximum length of a password, bytes: it limits the cost of hashing. */
export const MAX_PASSWORD = 1024;

const text = (name: string, description: string) =>
  Type.String({ description, refusal: `missing value of ${name}: a text` });

const user = Type.Object({ name: Type.String(), group: Type.String() });
export type LoggedIn = Data<typeof user>;

export const login = {
  method: 'POST',
  path: '/api/v1/login',
  summary: 'Log in; the answer sets the cookie of the session',
  public: true,
  body: Type.Object({
    name: text('name', `Name of a user, at most ${MAX_NAME} characters.`),
    password: text('password', `Its password, at most ${MAX_PASSWORD} characters.`),
  }),
  answer: user,
} as const satisfies Endpoint;

export const setup = {
  method: 'POST',
  path: '/api/v1/setup',
  summary: 'Set the first password, and log in',
  public: true,
  body: Type.Object({
    token: text('token', 'From the link that the router prints as long as no password is set.'),
    password: text('password', 'Password of the first user.'),
  }),
  answer: user,
} as const satisfies Endpoint;

export const session = {
  method: 'GET',
  path: '/api/v1/session',
  summary: 'The user of the session',
  public: true,
  answer: Type.Object({
    id: Type.String({ description: '`.id` in `/user`; a user may be renamed.' }),
    name: Type.String(),
    group: Type.String(),
    identity: Type.String({ description: 'Name of the router.' }),
    version: Type.String(),
    'time-zone': Type.String({ description: "Zone of the router's clock, of the tz database." }),
  }),
} as const satisfies Endpoint;
export type SessionAnswer = Data<typeof session.answer>;

export const logout = {
  method: 'POST',
  path: '/api/v1/logout',
  summary: 'End the session',
} as const satisfies Endpoint;
