import { tokenBucketPart, tokenBucketRecord } from '@tollway/dataplane-agent/records';
import type { TokenBucketDirection, TokenBucketSample } from '@tollway/protocol/live/token-bucket';
import type { TokenBucket } from './messages.js';

const field = tokenBucketPart;
const slot = tokenBucketRecord;
const RECORD = slot.size;

/** A queue in one millisecond: upload and download of a simple queue; a queue of a tree has the first alone. */
export type QueueSample = Required<TokenBucketSample>;

/**
 * Samples of the milliseconds after `after` up to and including `until`, ascending, summed over the workers.
 */
export function tokenBucketSamples(
  { records }: Pick<TokenBucket, 'records'>,
  after: number,
  until: number,
): QueueSample[] {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  const slots = new Map<number, QueueSample>();
  for (let at = 0; at + RECORD <= view.byteLength; at += RECORD) {
    const ms = Number(view.getBigUint64(at + slot.millisecond, true));
    if (ms <= after || ms > until) continue;
    const before = slots.get(ms);
    const [upload, download] = [directionAt(view, at + slot.upload), directionAt(view, at + slot.download)];
    slots.set(
      ms,
      before === undefined
        ? { ms, upload, download }
        : { ms, upload: sumOf(before.upload, upload), download: sumOf(before.download, download) },
    );
  }
  return [...slots.values()].sort((a, b) => a.ms - b.ms);
}

const directionAt = (view: DataView, at: number): TokenBucketDirection => ({
  bytes: view.getUint32(at + field.passed, true),
  dropped: view.getUint32(at + field.dropped, true),
  queued: view.getUint32(at + field.waiting, true),
  tokens: Number(view.getBigInt64(at + field.tokens, true)),
  wait: view.getUint32(at + field.longestWait, true),
  rate: 1_000 * view.getUint32(at + field.rateKbit, true),
});

function sumOf(a: TokenBucketDirection, b: TokenBucketDirection): TokenBucketDirection {
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
function bucketOf(a: TokenBucketDirection, b: TokenBucketDirection): Pick<TokenBucketDirection, 'tokens' | 'rate'> {
  const [here, there] = [a, b].map(({ bytes, dropped, queued }) => bytes + dropped + queued > 0);
  if (here !== there) return here ? a : b;
  // It moved within this millisecond, or is idle: the state with fewer tokens is the later one.
  if (a.rate === 0 || b.rate === 0) return a.rate === 0 ? b : a;
  return a.tokens <= b.tokens ? a : b;
}
