import type { TokenBucketDirection, TokenBucketSample } from '@tollway/protocol/live/token-bucket';

/**
 * Samples of a queue for each millisecond of the last half minute, in packed arrays. Times are those of the router's
 * monotonic clock, ms. Pure.
 */

/** Number of milliseconds that are stored. */
export const HELD_MS = 32_768;

type Field = keyof TokenBucketDirection;
const FIELDS: readonly Field[] = ['bytes', 'dropped', 'queued', 'tokens', 'wait', 'rate'];
type Column = Float64Array<ArrayBuffer>;

const columns = (): Readonly<Record<Field, Column>> => ({
  bytes: new Float64Array(HELD_MS),
  dropped: new Float64Array(HELD_MS),
  queued: new Float64Array(HELD_MS),
  tokens: new Float64Array(HELD_MS),
  wait: new Float64Array(HELD_MS),
  rate: new Float64Array(HELD_MS),
});

export class TokenBucketHistory {
  readonly #stamps = new Float64Array(HELD_MS).fill(-1);
  readonly #directions = [columns(), columns()] as const;
  #from: number | undefined;
  #now = 0;

  /** The first stored millisecond; undefined before the first message. */
  get from(): number | undefined {
    return this.#from === undefined ? undefined : Math.max(this.#from, this.#now - HELD_MS + 1);
  }

  /** The last stored millisecond. */
  get now(): number {
    return this.#now;
  }

  /**
   * Appends the samples of milliseconds with traffic.
   *
   * @param from the first millisecond of the message; after a gap the earlier samples are dropped
   * @param now the last millisecond of the message; milliseconds without a sample were idle
   */
  append(slots: readonly TokenBucketSample[], from: number, now: number): void {
    // After a restart of the router its monotonic clock starts at zero.
    if (now < this.#now - HELD_MS) {
      this.#stamps.fill(-1);
      this.#from = undefined;
      this.#now = 0;
    }
    const known = this.#from === undefined ? -1 : this.#now;
    if (this.#from === undefined || from > this.#now + 1) this.#from = from;
    this.#now = Math.max(this.#now, now, slots.at(-1)?.ms ?? 0);
    for (const { ms, upload, download } of slots) {
      // After a reconnect the router repeats the last milliseconds.
      if (ms <= known) continue;
      const at = ms % HELD_MS;
      this.#stamps[at] = ms;
      for (const [which, held] of this.#directions.entries()) {
        for (const field of FIELDS) held[field][at] = [upload, download][which]?.[field] ?? 0;
      }
    }
  }

  /** A value of one millisecond; undefined if the queue was idle, or the sample is not stored. */
  at(which: number, field: Field, ms: number): number | undefined {
    const at = ms % HELD_MS;
    return ms < (this.#from ?? 0) || this.#stamps[at] !== ms ? undefined : this.#directions[which]?.[field][at];
  }

  /**
   * Bytes in bins of equal length, oldest first; the last one is the newest complete bin. Null before the first
   * message.
   *
   * @param widthMs length of a bin, ms
   */
  bins(which: number, widthMs: number, count: number): readonly (number | null)[] {
    const last = Math.floor((this.#now + 1) / widthMs);
    const from = this.from ?? Number.POSITIVE_INFINITY;
    return Array.from({ length: count }, (_, index) => {
      const start = (last - count + index) * widthMs;
      if (start + widthMs <= from) return null;
      let bytes = 0;
      for (let ms = start; ms < start + widthMs; ms++) bytes += this.at(which, 'bytes', ms) ?? 0;
      return bytes;
    });
  }

  /** Maximum number of bytes that passed in any interval of `widthMs`, and the sum of all stored bytes. */
  totals(which: number, widthMs: number): { readonly most: number; readonly sum: number } {
    let [most, sum, window] = [0, 0, 0];
    for (let ms = this.from ?? this.#now; ms <= this.#now; ms++) {
      const bytes = this.at(which, 'bytes', ms) ?? 0;
      sum += bytes;
      window += bytes - (this.at(which, 'bytes', ms - widthMs) ?? 0);
      most = Math.max(most, window);
    }
    return { most, sum };
  }

  /** Maximum of a field over the stored samples; for drops the sum. */
  extreme(which: number, field: 'dropped' | 'wait' | 'rate'): number {
    let value = 0;
    for (let ms = this.from ?? this.#now; ms <= this.#now; ms++) {
      const one = this.at(which, field, ms) ?? 0;
      value = field === 'dropped' ? value + one : Math.max(value, one);
    }
    return value;
  }

  /**
   * Tokens in the bucket at the end of each of the last milliseconds, bits, oldest first. In idle milliseconds they
   * grow by the rate, up to the capacity. Null before the first message.
   *
   * @param rate token rate where no sample contains one, bit/s
   */
  levels(which: number, count: number, rate: number, capacity: number): readonly (number | null)[] {
    const start = this.#now - count + 1;
    const from = this.from ?? Number.POSITIVE_INFINITY;
    let level = this.#levelBefore(which, start, rate, capacity);
    let came = rate;
    return Array.from({ length: count }, (_, index) => {
      const ms = start + index;
      if (ms < from) return null;
      const tokens = this.at(which, 'tokens', ms);
      came = this.at(which, 'rate', ms) || came;
      level = tokens ?? Math.min(capacity, level + came / 1000);
      return level;
    });
  }

  #levelBefore(which: number, start: number, rate: number, capacity: number): number {
    for (let ms = start - 1; ms >= Math.max(this.from ?? start, start - HELD_MS); ms--) {
      const tokens = this.at(which, 'tokens', ms);
      if (tokens !== undefined) return Math.min(capacity, tokens + ((start - 1 - ms) * rate) / 1000);
    }
    // Without any traffic the bucket is full.
    return capacity;
  }
}
