import { queueScopePart, queueScopeRecord } from '@tollway/dataplane-agent/records';
import type { QueueScope } from './messages.js';

const field = queueScopePart;
const slot = queueScopeRecord;
const RECORD = slot.size;

/** What one direction of a queue did in a millisecond. */
export interface ScopePart {
  /** L3 bytes that passed. */
  readonly bytes: number;
  /** Packets. */
  readonly dropped: number;
  /** L3 bytes waiting at the end. */
  readonly queued: number;
  /** In the bucket at the end, bits; below zero what was passed in advance. */
  readonly tokens: number;
  /** Longest wait of a packet that passed, µs. */
  readonly wait: number;
  /** At which tokens came, bits/s. */
  readonly rate: number;
}

/** What a queue did in a millisecond. */
export interface ScopeSlot {
  /** Number of the millisecond, monotonic time. */
  readonly ms: number;
  /** Upload and download of a simple queue; the first is all of a queue of a tree. */
  readonly parts: readonly [ScopePart, ScopePart];
}

/**
 * Milliseconds up to and with `until`, in order, those of several workers put together.
 * @param after only those with a greater number.
 */
export function scopeSlots({ records }: Pick<QueueScope, 'records'>, after: number, until: number): ScopeSlot[] {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  const slots = new Map<number, ScopeSlot>();
  for (let at = 0; at + RECORD <= view.byteLength; at += RECORD) {
    const ms = Number(view.getBigUint64(at + slot.millisecond, true));
    if (ms <= after || ms > until) continue;
    const before = slots.get(ms);
    const [first, second] = [part(view, at + slot.upload), part(view, at + slot.download)];
    const parts: ScopeSlot['parts'] =
      before === undefined ? [first, second] : [together(before.parts[0], first), together(before.parts[1], second)];
    slots.set(ms, { ms, parts });
  }
  return [...slots.values()].sort((a, b) => a.ms - b.ms);
}

const part = (view: DataView, at: number): ScopePart => ({
  bytes: view.getUint32(at + field.passed, true),
  dropped: view.getUint32(at + field.dropped, true),
  queued: view.getUint32(at + field.waiting, true),
  tokens: Number(view.getBigInt64(at + field.tokens, true)),
  wait: view.getUint32(at + field.longestWait, true),
  rate: 1_000 * view.getUint32(at + field.rateKbit, true),
});

function together(a: ScopePart, b: ScopePart): ScopePart {
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
 * The one bucket of a direction: it goes from worker to worker, and one that had it tells its last state of it along
 * with what the other direction does there.
 */
function bucketOf(a: ScopePart, b: ScopePart): Pick<ScopePart, 'tokens' | 'rate'> {
  const [here, there] = [a, b].map(({ bytes, dropped, queued }) => bytes + dropped + queued > 0);
  if (here !== there) return here ? a : b;
  // It went over within this millisecond, or rests: what has less in it was told later.
  if (a.rate === 0 || b.rate === 0) return a.rate === 0 ? b : a;
  return a.tokens <= b.tokens ? a : b;
}
