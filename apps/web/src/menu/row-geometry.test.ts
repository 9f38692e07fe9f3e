import { expect, test } from 'vitest';
import { RowGeometry } from './row-geometry.ts';

test('rows with more lines push the rows below them', () => {
  const geometry = new RowGeometry();
  geometry.resize(10, 20);
  geometry.setExtra(2, 1);
  geometry.setExtra(4, 2);
  expect([0, 2, 3, 5].map((i) => geometry.top(i))).toEqual([0, 40, 80, 160]);
  expect(geometry.height(4)).toBe(60);
  expect(geometry.fullHeight).toBe(260);
  expect([0, 59, 79, 80, 9999].map((y) => geometry.rowAt(y))).toEqual([0, 2, 2, 3, 9]);
});

test('extra lines of rows that are gone are forgotten', () => {
  const geometry = new RowGeometry();
  geometry.resize(10, 20);
  geometry.setExtra(9, 1);
  geometry.resize(5, 20);
  expect(geometry.fullHeight).toBe(100);
});

test('a million rows scroll from the first to the last within what browsers can do', () => {
  const geometry = new RowGeometry();
  geometry.resize(1_000_000, 24);
  const viewport = 600;
  expect(geometry.scrollableHeight).toBeLessThanOrEqual(8_000_000);
  expect(geometry.rowAt(geometry.offsetOf(0, viewport))).toBe(0);
  const end = geometry.offsetOf(geometry.scrollableHeight - viewport, viewport);
  expect(geometry.rowAt(end + viewport - 1)).toBe(999_999);
  for (const row of [1, 4_321, 777_777]) {
    const scroll = geometry.scrollFor(geometry.top(row), viewport);
    expect(Math.abs(geometry.offsetOf(scroll, viewport) - geometry.top(row))).toBeLessThan(1);
  }
});

test('an empty list has no rows to find', () => {
  const geometry = new RowGeometry();
  geometry.resize(0, 24);
  expect(geometry.rowAt(100)).toBe(0);
  expect(geometry.fullHeight).toBe(0);
});
