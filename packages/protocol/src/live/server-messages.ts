import { Type } from 'typebox';
import type { Data } from '../data.js';
import type { Delta, Snapshot } from './menu.js';
import type { ProfileMessage } from './profile.js';
import { condition } from './row-query.js';
import type { StatusMessage } from './status.js';
import type { TokenBucketMessage } from './token-bucket.js';
import type { TraceMessage } from './trace.js';
import type { History, SampleMessage } from './traffic.js';

/** Error: a message or subscription was refused, or a subscription has failed. */
const failure = Type.Object({
  op: Type.Literal('error'),
  id: Type.Optional(Type.Integer({ description: 'Absent when the message at fault had none.' })),
  detail: Type.String({ description: 'What is wrong and what is accepted.' }),
  condition: Type.Optional(condition),
  property: Type.Optional(Type.String({ description: 'Argument of a trace that is wrong.' })),
});
export type Failure = Data<typeof failure>;

/** A message of a subscription before its number is added. */
export type Unnumbered<M extends ServerMessage> = M extends ServerMessage ? Omit<M, 'id'> : never;

/** Any message of the router. */
export type ServerMessage =
  | Snapshot
  | Delta
  | History
  | SampleMessage
  | ProfileMessage
  | StatusMessage
  | TokenBucketMessage
  | TraceMessage
  | Failure;
