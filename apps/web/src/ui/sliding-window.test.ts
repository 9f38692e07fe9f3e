import { expect, test } from 'vitest';
import { decimated, SlidingWindow } from './sliding-window.ts';

test('points are appended once, and old ones forgotten', () => {
  const window = new SlidingWindow(1, 5_000);
  window.append({ times: [1_000, 2_000], values: [[1, 2]] });
  window.append({ times: [2_000, 3_000, 7_500], values: [[9, 3, 4]] });
  expect(window.times).toEqual([3, 3.001, 7.5]);
  expect(window.columns).toEqual([[3, null, 4]]);
  expect(window.newestMs).toBe(7_500);
});

test('points that end before those held take their place', () => {
  const window = new SlidingWindow(1, 60_000);
  window.append({ times: [50_000, 51_000], values: [[1, 2]] });
  window.append({ times: [], values: [[]] });
  expect(window.times).toEqual([50, 51]);
  window.append({ times: [3_000, 4_000], values: [[3, 4]] });
  expect(window.times).toEqual([3, 4]);
  expect(window.columns).toEqual([[3, 4]]);
});

test('the arrays stay the same objects', () => {
  const window = new SlidingWindow(2, 5_000);
  const { times, columns } = window;
  for (let t = 0; t < 100; t++) window.append({ times: [t * 1000], values: [[t], [null]] });
  expect(window.times).toBe(times);
  expect(window.columns[0]).toBe(columns[0]);
  expect(times.length).toBe(6);
});

test('a value that is missing is a hole', () => {
  const window = new SlidingWindow(2, 60_000);
  window.append({ times: [1_000], values: [[1]] });
  expect(window.columns).toEqual([[1], [null]]);
});

test('fewer points keep lows, highs and holes', () => {
  const times = Array.from({ length: 1000 }, (_, i) => i);
  const values = times.map((i) => (i === 500 ? null : i === 333 ? 99 : i === 777 ? -5 : 1));
  const fewer = decimated(times, [values], 50);
  expect(fewer.times.length).toBeLessThanOrEqual(101);
  expect(Math.max(...(fewer.columns[0] ?? []).map(Number))).toBe(99);
  expect(Math.min(...(fewer.columns[0] ?? []).map(Number))).toBe(-5);
  expect(fewer.columns[0]).toContain(null);
  expect(fewer.times).toEqual([...fewer.times].sort((a, b) => a - b));
});
