import { expect, test } from 'vitest';
import { agoText, axisOf, type BinPlotData, ticksOf, valueAt } from './bin-plot.ts';

const data = (values: readonly (number | null)[], ...marks: number[]): BinPlotData => ({
  values,
  unit: 'bps',
  color: '--tx',
  shape: 'bars',
  spanMs: 1000,
  marks: marks.map((value) => ({ label: '', color: '', value })),
});

test('the axis reaches for lines that are near, not for those far away', () => {
  expect(axisOf(data([10, null, 20], 20, 22))).toEqual([0, 22 * 1.1]);
  expect(axisOf(data([10, 20], 20, 2000))).toEqual([0, 20 * 1.1]);
  expect(axisOf(data([0, 0], 20, 22))).toEqual([0, 22 * 1.1]);
  expect(axisOf(data([]))).toEqual([0, 1.1]);
  expect(axisOf(data([-4, 10], 10))[0]).toBeCloseTo(-4.2);
});

test('steps are round', () => {
  expect(ticksOf(0, 22, 4)).toEqual([0, 10, 20]);
  expect(ticksOf(0, 1.1, 5)).toEqual([0, 0.5, 1]);
});

test('times and places', () => {
  expect(agoText(400)).toBe('400 ms');
  expect(agoText(4000)).toBe('4.0 s');
  expect(agoText(30_000)).toBe('30 s');
  expect(valueAt(0, 460, 400)).toBeUndefined();
  expect(valueAt(53, 460, 400)).toBe(1);
});
