import type { TokenBucketDirection } from '@tollway/protocol/live/token-bucket';
import { expect, test } from 'vitest';
import { HELD_MS, TokenBucketHistory } from './token-bucket-history.ts';

const direction = (part: Partial<TokenBucketDirection>): TokenBucketDirection => ({
  bytes: 0,
  dropped: 0,
  queued: 0,
  tokens: 0,
  wait: 0,
  rate: 0,
  ...part,
});
const slot = (ms: number, bytes: number, part: Partial<TokenBucketDirection> = {}) => ({
  ms,
  upload: direction({ bytes, ...part }),
});

test('bins hold what passed in them, the last one is whole, and what is unknown is no zero', () => {
  const history = new TokenBucketHistory();
  history.append([slot(1000, 5), slot(1001, 7), slot(1013, 11)], 1000, 1024);
  expect(history.bins(0, 10, 4)).toEqual([null, null, 12, 11]);
  expect(history.bins(0, 1, 3)).toEqual([0, 0, 0]);
  expect(history.bins(1, 10, 2)).toEqual([0, 0]);
  expect(history.totals(0, 2)).toEqual({ most: 12, sum: 23 });
  expect(history.totals(0, 14)).toEqual({ most: 23, sum: 23 });
});

test('what is reported again counts once; an old millisecond does not come back', () => {
  const history = new TokenBucketHistory();
  history.append([slot(5, 10, { dropped: 1, wait: 7 })], 5, 5);
  history.append([slot(5, 10, { dropped: 1 }), slot(6, 20, { dropped: 2 })], 5, 6);
  expect(history.totals(0, 1000)).toEqual({ most: 30, sum: 30 });
  expect(history.extreme(0, 'dropped')).toBe(3);
  expect(history.extreme(0, 'wait')).toBe(7);
  history.append([], 7, 6 + HELD_MS);
  expect(history.totals(0, 1000)).toEqual({ most: 0, sum: 0 });
  expect(history.at(0, 'bytes', 6 + HELD_MS)).toBeUndefined();
});

test('behind a gap it begins anew; so it does when the router was started anew', () => {
  const history = new TokenBucketHistory();
  history.append([slot(100, 10), slot(101, 20)], 100, 101);
  history.append([slot(111, 5)], 104, 111);
  expect(history.from).toBe(104);
  expect(history.at(0, 'bytes', 101)).toBeUndefined();
  expect(history.bins(0, 4, 3)).toEqual([null, 0, 5]);
  expect(history.totals(0, 10)).toEqual({ most: 5, sum: 5 });

  history.append([], 40_000, 50_000);
  history.append([slot(102, 3)], 102, 103);
  expect([history.from, history.now]).toEqual([102, 103]);
  expect(history.totals(0, 10)).toEqual({ most: 3, sum: 3 });
});

test('tokens come in while nothing happens, until the bucket is full', () => {
  const history = new TokenBucketHistory();
  // 1 Mbit/s: 1,000 bits a millisecond.
  history.append([slot(100, 500, { tokens: -200, rate: 1_000_000 })], 100, 104);
  expect(history.levels(0, 6, 1_000_000, 3000)).toEqual([null, -200, 800, 1800, 2800, 3000]);
  history.append([], 105, 110);
  expect(history.levels(0, 2, 1_000_000, 3000)).toEqual([3000, 3000]);
});
