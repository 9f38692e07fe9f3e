import { expect, test } from 'vitest';
import { TokenBucketHistory } from '../../../api/token-bucket-history.ts';
import { boundBits, explanation, figuresOf, speedTestReading } from './explain.ts';

const BUCKET = { limit: 20_000_000, capacity: 2_000_000 };
const quiet = { dropped: 0, queued: 0, wait: 0, rate: BUCKET.limit };

/** A quiet second, then a full bucket at once, then the rate. */
function saturated(seconds: number, rate = BUCKET.limit) {
  const history = new TokenBucketHistory();
  history.append([], 1000, 1000);
  const slots = Array.from({ length: seconds * 1000 }, (_, at) => ({
    ms: 2000 + at,
    upload: { ...quiet, bytes: at === 0 ? 250_000 : 2500, tokens: at === 0 ? 0 : 12, rate },
  }));
  history.append(slots, 1001, 1999 + seconds * 1000);
  return history;
}

test('22 Mbps on a queue of 20 Mbps, explained by its bucket', () => {
  const figures = figuresOf(saturated(10), 0, BUCKET);
  expect(figures.busiest[2]).toBe(2_000_000 + 999 * 20_000);
  expect(boundBits(BUCKET, BUCKET.limit, 1000)).toBe(22_000_000);
  const text = explanation(figures, 'upload');
  expect(text).toContain('The busiest second carried 22.0 Mbit, 10% above the limit.');
  expect(text).toContain('holds 2.00 Mbit, what 20.0 Mbps bring in 100 ms');
  expect(text).toContain('up to 22.0 Mbit in one second');
  expect(text).toMatch(/speed test .* would show 20\.0 Mbps/);
  expect(text).not.toContain('burst');
});

test('no traffic, no limit, a burst, a steady rate', () => {
  const idle = new TokenBucketHistory();
  idle.append([], 1000, 6000);
  expect(explanation(figuresOf(idle, 0, BUCKET), '')).toBe(
    'No traffic has passed for 5 s. The bucket is full: 2.00 Mbit, what 20.0 Mbps bring in 100 ms. So much may pass at once.',
  );
  expect(explanation(figuresOf(idle, 0, { limit: 0, capacity: 0 }), 'download')).toContain('no limit for download');
  expect(explanation(figuresOf(saturated(3, 40_000_000), 0, BUCKET), 'upload')).toContain(
    'A burst was in force: tokens came at 40.0 Mbps.',
  );
  const steady = new TokenBucketHistory();
  steady.append(
    Array.from({ length: 3000 }, (_, ms) => ({ ms, upload: { ...quiet, bytes: 1000, tokens: 0 } })),
    0,
    2999,
  );
  const text = explanation(figuresOf(steady, 0, BUCKET), 'download');
  expect(text).toBe(
    'Over the last 3 s download was 8.0 Mbps on average; the limit is 20.0 Mbps. No second carried more.',
  );
});

test('a second that carried a little more, as whole packets do, is not said to have carried no more', () => {
  const history = new TokenBucketHistory();
  const slots = Array.from({ length: 3000 }, (_, ms) => ({ ms, upload: { ...quiet, bytes: 2507, tokens: 0 } }));
  history.append(slots, 0, 2999);
  expect(explanation(figuresOf(history, 0, BUCKET), 'download')).toContain(
    'The busiest second carried 20.1 Mbit, a few packets more than the limit.',
  );
});

test('a time that nobody watched is no silence', () => {
  const history = saturated(10);
  const later = history.now + 20_000;
  const slots = Array.from({ length: 10_000 }, (_, at) => ({
    ms: later + at,
    upload: { ...quiet, bytes: 2500, tokens: 12 },
  }));
  history.append(slots, later, later + 9_999);
  const figures = figuresOf(history, 0, BUCKET);
  expect(figures.spanMs).toBe(10_000);
  expect(figures.speedTest).toBe(20_000_000);
  expect(explanation(figures, 'upload')).toContain('Over the last 10 s upload was 20.0 Mbps on average');
});

test('a speed test leaves out the slowest quarter and the two fastest samples', () => {
  expect(speedTestReading([1, 1, 10, 10, 10, 10, 99, 99])).toBe(10);
  expect(speedTestReading([])).toBe(0);
});
