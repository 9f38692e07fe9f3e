import { Type } from 'typebox';
import type { Data } from '../data.js';

/** Topic `queue-scope`: what one queue does in each millisecond. */

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
export type ScopeSide = Data<typeof side>;

const slot = Type.Object({
  ms: Type.Number({ description: 'Number of the millisecond.' }),
  upload: side,
  download: Type.Optional(side),
});
/** One millisecond; a queue of a tree has `upload` only, which is all of it. */
export type ScopeSlot = Data<typeof slot>;

/** Milliseconds in which nothing passed, came or waited are left out of `slots`. */
export const scope = Type.Object({
  id: Type.Integer(),
  op: Type.Literal('scope'),
  fromMs: Type.Number({ description: 'First millisecond that is told.' }),
  nowMs: Type.Number({ description: 'Last one; all between them is told.' }),
  slots: Type.Array(slot),
});
export type ScopeMessage = Data<typeof scope>;
