import { Type } from 'typebox';
import type { Data } from '../data.js';
import { QUEUE_MENUS } from '../queue-menus.js';
import { rowQueryParts, wholeNumber } from './row-query.js';

/** Messages of a browser, by `op`; subscriptions by `topic`. Unknown members of a message are ignored. */

const id = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Number of the subscription, chosen by the client; messages about it carry it.',
  refusal: 'id must be a whole number of your choice',
});
const op = Type.Literal('subscribe');

/** Member of every message: the number of a subscription. */
export const numbered = Type.Object({ id });

/** Member of every message: the operation. */
export const operation = Type.Object({
  op: Type.Enum(['subscribe', 'window', 'unsubscribe'], { refusal: 'op must be subscribe, window or unsubscribe' }),
});

/** Member of every subscription: the topic. */
export const topic = Type.Object({
  topic: Type.Enum(['menu', 'traffic', 'profile', 'status', 'trace', 'token-bucket'], {
    refusal: 'topic must be menu, traffic, profile, status, trace or token-bucket',
  }),
});

const menuTopic = {
  topic: Type.Literal('menu'),
  menu: Type.String({ refusal: 'menu must be the path of a menu, e.g. /interface' }),
  intervalMs: Type.Optional(wholeNumber('intervalMs', 'How often values that move are sent, ms.')),
  ...rowQueryParts,
};

const traceTopic = {
  topic: Type.Literal('trace'),
  dry: Type.Optional(
    Type.Boolean({
      description: 'A dry run of the described packet, instead of a live trace.',
      refusal: 'dry must be true or false',
    }),
  ),
  arguments: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Arguments of `/tool/packet-trace`.',
    refusal: 'arguments must be an object of the arguments of /tool/packet-trace',
  }),
};

const tokenBucketTopic = {
  topic: Type.Literal('token-bucket'),
  menu: Type.Enum([...QUEUE_MENUS], { refusal: `menu must be ${QUEUE_MENUS.join(' or ')}` }),
  queue: Type.String({
    minLength: 1,
    description: '`.id` or name.',
    refusal: 'queue must be the .id or name of a queue',
  }),
};

const plainTopic = <T extends 'traffic' | 'profile' | 'status'>(topic: T) => ({ topic: Type.Literal(topic) });

/** Each subscription by its topic. */
export const subscriptions = {
  menu: Type.Object({ id, op, ...menuTopic }),
  trace: Type.Object({ id, op, ...traceTopic }),
  'token-bucket': Type.Object({ id, op, ...tokenBucketTopic }),
  traffic: Type.Object({ id, op, ...plainTopic('traffic') }),
  profile: Type.Object({ id, op, ...plainTopic('profile') }),
  status: Type.Object({ id, op, ...plainTopic('status') }),
};
type Topic = keyof typeof subscriptions;
export type Subscribe = { readonly [T in Topic]: Data<(typeof subscriptions)[T]> }[Topic];

/** Changes the query of a subscription to a menu. */
export const rowQueryRequest = Type.Object({ id, op: Type.Literal('window'), ...rowQueryParts });
type RowQueryRequest = Data<typeof rowQueryRequest>;

const unsubscribe = Type.Object({ id, op: Type.Literal('unsubscribe') });
export type Unsubscribe = Data<typeof unsubscribe>;

/** Any message of a browser. */
export type ClientMessage = Subscribe | RowQueryRequest | Unsubscribe;

/** The arguments of a subscription, without its id. */
export type Subscription = { readonly [T in Topic]: Omit<Data<(typeof subscriptions)[T]>, 'id' | 'op'> }[Topic];
