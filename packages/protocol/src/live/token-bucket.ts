import { Type } from 'typebox';
import type { Data } from '../data.js';

/** Topic `token-bucket`: samples of one queue, one for each millisecond. */

const direction = Type.Object({
  bytes: Type.Number({ description: 'L3 bytes that passed.' }),
  dropped: Type.Number({ description: 'Packets dropped.' }),
  queued: Type.Number({ description: 'L3 bytes waiting at the end.' }),
  tokens: Type.Number({
    description: 'Tokens in the bucket at the end, bits; negative after a packet larger than the bucket held.',
  }),
  wait: Type.Number({ description: 'Longest wait of a packet that passed, µs.' }),
  rate: Type.Number({ description: 'Rate at which the bucket was filled, bit/s.' }),
});
/** One direction of a queue in one millisecond. */
export type TokenBucketDirection = Data<typeof direction>;

const slot = Type.Object({
  ms: Type.Number({ description: 'Number of the millisecond, by the monotonic clock of the router.' }),
  upload: direction,
  download: Type.Optional(direction),
});
/** One millisecond; a queue of a tree has `upload` only. */
export type TokenBucketSample = Data<typeof slot>;

/** Milliseconds in which no packet was passed, dropped or queued have no slot. */
const tokenBucket = Type.Object({
  id: Type.Integer(),
  op: Type.Literal('token-bucket'),
  fromMs: Type.Number({ description: 'First millisecond of the slots.' }),
  nowMs: Type.Number({ description: 'Last millisecond of the slots; none between is missing.' }),
  slots: Type.Array(slot),
});
export type TokenBucketMessage = Data<typeof tokenBucket>;
