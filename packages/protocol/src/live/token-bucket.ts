import { Type } from 'typebox';
import type { Data } from '../data.js';

/** Topic `token-bucket`: samples of one queue, one for each millisecond. */

const side = Type.Object({
  bytes: Type.Number({ description: 'L3 bytes that passed.' }),
  dropped: Type.Number({ description: 'Packets dropped.' }),
  queued: Type.Number({ description: 'L3 bytes that wait at the end.' }),
  tokens: Type.Number({
    description: 'Tokens in the bucket at the end, bits; below zero while a packet is paid off.',
  }),
  wait: Type.Number({ description: 'Longest wait of a packet that passed, µs.' }),
  rate: Type.Number({ description: 'Rate at which tokens came, bit/s.' }),
});
export type TokenBucketDirection = Data<typeof side>;

const slot = Type.Object({
  ms: Type.Number({ description: 'Number of the millisecond.' }),
  upload: side,
  download: Type.Optional(side),
});
/** One millisecond; a queue of a tree has `upload` only. */
export type TokenBucketSample = Data<typeof slot>;

/** Milliseconds without a packet passed, dropped or waiting have no slot. */
const tokenBucket = Type.Object({
  id: Type.Integer(),
  op: Type.Literal('token-bucket'),
  fromMs: Type.Number({ description: 'First millisecond that is told.' }),
  nowMs: Type.Number({ description: 'Last one; all between them is told.' }),
  slots: Type.Array(slot),
});
export type TokenBucketMessage = Data<typeof tokenBucket>;
