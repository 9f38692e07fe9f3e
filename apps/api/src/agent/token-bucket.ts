import { queueScopePart, queueScopeRecord } from '@tollway/dataplane-agent/records';
import type { QueueScope } from './messages.js';

const field = queueScopePart;
const slot = queueScopeRecord;
const RECORD = slot.size;

/** One direction of a queue in one millisecond. */
export interface DirectionSample {
  /** L3 bytes that passed. */
  readonly bytes: number;
  /** Packets. */
  readonly dropped: number;
  /** L3 bytes waiting at the end. */
  readonly queued: number;
  /** Tokens in the bucket at the end, bits; negative after a packet larger than the bucket held. */
  readonly tokens: number;
  /** Longest wait of a packet that passed, µs. */
  readonly wait: number;
  /** Rate at which the bucket was filled, bits/s. */
  readonly rate: number;
}

/** A queue in one millisecond. */
export interface TokenBucketSample {
  /** Number of the millisecond, monotonic time. */
  readonly ms: number;
  /** Upload and download of a simple queue; a queue of a tree has the first alone. */
  readonly directions: readonly [DirectionSample, DirectionSample];
}

/**
 * Samples of the milliseconds after `after` up to and including `until`, ascending, summed over the workers.
 */
export function tokenBucketSamples(
  { records }: Pick<QueueScope, 'records'>,
  after: number,
  until: number,
): TokenBucketSample[] {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  const slots = new Map<number, TokenBucketSample>();
  for (let at = 0; at + RECORD <= view.byteLength; at += RECORD) {
    const ms = Number(view.getBigUint64(at + slot.millisecond, true));
    if (ms <= after || ms > until) continue;
    const before = slots.get(ms);
    const [first, second] = [directionAt(view, at + slot.upload), directionAt(view, at + slot.download)];
    const directions: TokenBucketSample['directions'] =
      before === undefined
        ? [first, second]
        : [sumOf(before.directions[0], first), sumOf(before.directions[1], second)];
    slots.set(ms, { ms, directions });
  }
  return [...slots.values()].sort((a, b) => a.ms - b.ms);
}

const directionAt = (view: DataView, at: number): DirectionSample => ({
  bytes: view.getUint32(at + field.passed, true),
  dropped: view.getUint32(at + field.dropped, true),
  queued: view.getUint32(at + field.waiting, true),
  tokens: Number(view.getBigInt64(at + field.tokens, true)),
  wait: view.getUint32(at + field.longestWait, true),
  rate: 1_000 * view.getUint32(at + field.rateKbit, true),
});

function sumOf(a: DirectionSample, b: DirectionSample): DirectionSample {
  const { tokens, rate } = bucketOf(a, b);
  return {
    bytes: a.bytes + b.bytes,
    dropped: a.dropped + b.dropped,
    queued: a.queued + b.queued,
    tokens,
    wait: Math.max(a.wait, b.wait),
    rate,
  };
}

/**
 * State of the bucket of a direction. It moves from worker to worker; a former owner still reports its last state
 * in the record of the other direction.
 */
function bucketOf(a: DirectionSample, b: DirectionSample): Pick<DirectionSample, 'tokens' | 'rate'> {
  const [here, there] = [a, b].map(({ bytes, dropped, queued }) => bytes + dropped + queued > 0);
  if (here !== there) return here ? a : b;
  // It moved within this millisecond, or is idle: the state with fewer tokens is the later one.
  if (a.rate === 0 || b.rate === 0) return a.rate === 0 ? b : a;
  return a.tokens <= b.tokens ? a : b;
}
