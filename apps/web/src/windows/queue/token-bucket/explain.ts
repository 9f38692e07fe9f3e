/** Explanation of what the token bucket of a queue lets pass, in sentences with the measured values. Pure. */

import type { TokenBucketHistory } from '../../../api/token-bucket-history.ts';
import { withUnit } from '../../../ui/units.ts';

/** Widths of the bins in which traffic is shown, ms. */
export const WIDTHS_MS = [1, 10, 1000] as const;

/** Limit of a queue in one direction. */
export interface Bucket {
  /** Maximum rate, bit/s; 0 for none. */
  readonly limit: number;
  /** Capacity of the bucket, bits. */
  readonly capacity: number;
}

/** Measured values of one direction of a queue. */
export interface TokenBucketFigures extends Bucket {
  /** Length of the measured time, ms. */
  readonly spanMs: number;
  /** Maximum rate of the tokens, bit/s: higher than the limit during a burst. */
  readonly tokenRate: number;
  /** Bits that passed in total. */
  readonly bits: number;
  /** Maximum number of bits in an interval of each of {@link WIDTHS_MS}, in that order. */
  readonly busiest: readonly number[];
  /** Present level of the bucket, bits. */
  readonly level: number;
  /** Result that a speed test of the last seconds would show, bit/s; undefined while there are too few samples. */
  readonly speedTest: number | undefined;
  readonly dropped: number;
  /** Maximum waiting time, µs. */
  readonly wait: number;
}

/** Number of samples of a speed test, and the length of a sample, ms. */
const SAMPLES = 20;
const SAMPLE_MS = 500;

/** The method of common speed tests: the average without the two fastest samples and the slowest quarter. */
export function speedTestReading(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const kept = sorted.slice(Math.floor(sorted.length / 4), Math.max(sorted.length - 2, 1));
  return kept.reduce((sum, value) => sum + value, 0) / Math.max(kept.length, 1);
}

/** Maximum number of bits that may pass in a time: the tokens that are added in it, and the content of the bucket. */
export function boundBits({ capacity }: Bucket, rate: number, ms: number): number {
  return (rate * ms) / 1000 + capacity;
}

export function figuresOf(history: TokenBucketHistory, which: number, bucket: Bucket): TokenBucketFigures {
  const spanMs = history.from === undefined ? 0 : history.now - history.from + 1;
  const busiest = WIDTHS_MS.map((width) => history.totals(which, width));
  const samples = history.bins(which, SAMPLE_MS, SAMPLES).filter((bytes) => bytes !== null);
  const started = samples.findIndex((bytes) => bytes > 0);
  const tested = started < 0 ? [] : samples.slice(started);
  return {
    ...bucket,
    spanMs,
    tokenRate: Math.max(bucket.limit, history.extreme(which, 'rate')),
    bits: (busiest[0]?.sum ?? 0) * 8,
    busiest: busiest.map(({ most }) => most * 8),
    level: history.levels(which, 1, bucket.limit, bucket.capacity).at(-1) ?? bucket.capacity,
    speedTest:
      tested.length < SAMPLES / 2 ? undefined : speedTestReading(tested.map((bytes) => (bytes * 8 * 1000) / SAMPLE_MS)),
    dropped: history.extreme(which, 'dropped'),
    wait: history.extreme(which, 'wait'),
  };
}

const rateText = (bps: number): string => withUnit(Math.round(bps), 'bps');
const amountText = (bits: number): string => withUnit(Math.round(bits), 'bit');
const percent = (share: number): string => `${Math.round(share * 100)}%`;
const seconds = (ms: number): string => `${Math.max(1, Math.round(ms / 1000))} s`;

/** Whether a value exceeds the limit by more than the granularity of whole packets explains. */
const clearlyAbove = (value: number, limit: number): boolean => value > limit * 1.005 + 12_112;

/** Explanation in sentences. @param direction `upload`, `download`, or empty for a queue with one direction */
export function explanation(figures: TokenBucketFigures, direction: string): string {
  const { limit, capacity, bits, spanMs } = figures;
  const what = direction === '' ? 'traffic' : direction;
  if (limit === 0) return `This queue has no limit for ${what}: no bucket holds it here.`;
  const holds = `${amountText(capacity)}, what ${rateText(limit)} bring in ${Math.round((capacity / limit) * 1000)} ms`;
  if (bits === 0) {
    return `No ${what} has passed for ${seconds(spanMs)}. The bucket is full: ${holds}. So much may pass at once.`;
  }
  const average = (bits * 1000) / Math.max(spanMs, 1);
  const first = `Over the last ${seconds(spanMs)} ${what} was ${rateText(average)} on average; the limit is ${rateText(limit)}.`;
  return [first, secondText(figures, holds), burstText(figures), speedText(figures)]
    .filter((text) => text !== '')
    .join(' ');
}

function secondText({ limit, capacity, busiest, spanMs }: TokenBucketFigures, holds: string): string {
  const second = busiest[2] ?? 0;
  if (spanMs < 1000) return '';
  if (clearlyAbove(second, limit)) {
    const most = boundBits({ limit, capacity }, limit, 1000);
    return (
      `The busiest second carried ${amountText(second)}, ${percent(second / limit - 1)} above the limit. ` +
      `The bucket allows that: after a quiet time it holds ${holds}, which may pass at once, and the rate comes on top: ` +
      `up to ${amountText(most)} in one second.`
    );
  }
  const moment = (busiest[0] ?? 0) * 1000;
  // The table below shows the same value: if it is displayed as more than the limit, "no more" would be wrong.
  const most =
    amountText(second) === amountText(limit) || second < limit
      ? 'No second carried more'
      : `The busiest second carried ${amountText(second)}, a few packets more than the limit`;
  return moment > limit * 1.5
    ? `${most}, though for one millisecond it was ${rateText(moment)}: packets leave at the speed of the port while the bucket has tokens.`
    : `${most}.`;
}

function burstText({ limit, tokenRate }: TokenBucketFigures): string {
  if (tokenRate <= limit * 1.001) return '';
  return `A burst was in force: tokens came at ${rateText(tokenRate)}.`;
}

function speedText({ limit, speedTest }: TokenBucketFigures): string {
  if (speedTest === undefined || speedTest < limit * 0.9) return '';
  return `A speed test that leaves out its slowest quarter and its two fastest samples would show ${rateText(speedTest)}.`;
}
