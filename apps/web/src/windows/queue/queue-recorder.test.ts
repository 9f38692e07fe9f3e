import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SPAN_MS } from '../../api/traffic.ts';
import { QueueRecorder } from './queue-recorder.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a queue is recorded once a second, also while it stands still, for as long as somebody listens', () => {
  const recorder = new QueueRecorder(() => true);
  recorder.row = { rate: '100/200', 'max-limit': '1000/0', 'queued-bytes': '3/4' };
  const stops = [recorder.listen(() => {}), recorder.listen(() => {})];
  vi.advanceTimersByTime(3_000);
  const { times, values } = recorder.rates(0);
  expect(times).toEqual([1_001_000, 1_002_000, 1_003_000]);
  expect(values).toEqual([
    [100, 100, 100],
    [200, 200, 200],
    [1000, 1000, 1000],
    [null, null, null],
  ]);
  expect(recorder.queued(1_002_000)).toEqual({ times: [1_003_000], values: [[3], [4]] });
  for (const stop of stops) stop();
  vi.advanceTimersByTime(5_000);
  expect(recorder.rates(0).times.length).toBe(3);
});

test('without news from the router there is a gap, and old readings go', () => {
  let fresh = false;
  const recorder = new QueueRecorder(() => fresh);
  recorder.row = { rate: '0/0' };
  recorder.listen(() => {});
  vi.advanceTimersByTime(2_000);
  expect(recorder.rates(0).times).toEqual([]);
  fresh = true;
  vi.advanceTimersByTime(2 * SPAN_MS);
  expect(recorder.rates(0).times.length).toBe(SPAN_MS / 1000 + 1);
});

test('over a reset of the counters there is a gap, not a second without drops', () => {
  const recorder = new QueueRecorder(() => true);
  recorder.listen(() => {});
  for (const dropped of ['5000/0', '8000/0', '700/0', '3700/0']) {
    recorder.row = { rate: '0/0', dropped };
    vi.advanceTimersByTime(1_000);
  }
  expect(recorder.drops(0, 1).values).toEqual([[null, 3_000, null, 3_000]]);
});

test('while the packet engine counts nothing there is a gap, and then no burst of all that was ever dropped', () => {
  const recorder = new QueueRecorder(() => true);
  recorder.listen(() => {});
  const counted = { rate: '100/0', dropped: '10539/0', 'max-limit': '1000/0' };
  recorder.row = counted;
  vi.advanceTimersByTime(2_000);
  recorder.row = { 'max-limit': '1000/0' };
  vi.advanceTimersByTime(4_000);
  recorder.row = counted;
  vi.advanceTimersByTime(2_000);
  const { times, values } = recorder.rates(0, 1);
  expect(times).toEqual([1_001_000, 1_002_000, 1_007_000, 1_008_000]);
  expect(values[0]).toEqual([100, 100, 100, 100]);
  expect(recorder.drops(0, 1).values).toEqual([[null, 0, null, 0]]);
});
