import { expect, test } from 'vitest';
import { type Line, rangeOf, tickSpace } from './chart-plot.ts';

const line = (more: Partial<Line> = {}): Line => ({ label: 'x', color: '--tx', ...more });
const round = (range: readonly number[]) => range.map((value) => Math.round(value / 1.08));

test('an axis reaches from zero to the highest value, and never collapses', () => {
  expect(round(rangeOf([line()], [[null, 5_000, 2_000]], 'bps'))).toEqual([0, 5_000]);
  expect(round(rangeOf([line()], [[]], 'bps'))).toEqual([0, 1_000]);
});

test('values before the first one on screen do not count', () => {
  expect(round(rangeOf([line()], [[90_000, 5_000, 2_000]], 'bps', 1))).toEqual([0, 5_000]);
});

test('lines below zero open the axis downwards', () => {
  expect(round(rangeOf([line(), line({ below: true })], [[4_000], [-9_000]], 'bps'))).toEqual([-9_000, 4_000]);
});

test('a limit counts only when the values come near it', () => {
  const lines = [line(), line({ reference: true })];
  expect(round(rangeOf(lines, [[8e6], [20e6]], 'bps'))).toEqual([0, 20e6]);
  expect(round(rangeOf(lines, [[8e6], [1e9]], 'bps'))).toEqual([0, 8e6]);
});

test('however low a graph is, its axis has a tick besides zero', () => {
  expect(tickSpace(0, 4.4e6, 200)).toBe(28);
  // Half of 75 pixels for 4.4 M: steps of 5 M would leave the zero alone.
  expect(tickSpace(-4.4e6, 4.4e6, 75)).toBe(18.75);
  expect(tickSpace(0, 0, 75)).toBe(28);
});
