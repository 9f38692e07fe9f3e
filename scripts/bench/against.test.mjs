import { expect, test } from 'vitest';
import { formatComparisons, interval, verdict } from './against.mjs';

test('the interval of a median is that of order statistics', () => {
  expect(interval([1, 2, 3, 4, 5, 6, 7, 8, 9])).toMatchObject({ ratio: 5, low: 2, high: 8 });
  expect(interval([1, 2, 3, 4, 5, 6, 7, 8, 9]).confidence).toBeCloseTo(1 - 20 / 512);
  expect(interval([6, 1, 5, 2, 4, 3])).toMatchObject({ ratio: 3.5, low: 1, high: 6 });
  expect(interval([1, 2, 3])).toMatchObject({ low: 1, high: 3, confidence: 0.75 });
  expect(interval([1])).toMatchObject({ ratio: 1, low: 1, high: 1, confidence: 0 });
});

test('a case is slower only when its whole interval says so', () => {
  const comparison = { name: 'engine/x', unit: 'packets', here: 1, there: 1, ratio: 1, confidence: 0.96 };
  expect(verdict({ ...comparison, low: 0.9, high: 0.97 })).toBe('slower');
  expect(verdict({ ...comparison, low: 0.97, high: 1.01 })).toContain('not known');
  expect(verdict({ ...comparison, low: 0.99, high: 1.01 })).toBe('not slower');
  expect(verdict({ ...comparison, low: 1.01, high: 1.02 })).toBe('faster');
  const text = formatComparisons([{ ...comparison, low: 0.99, high: 1.01 }], 'a'.repeat(40));
  expect(text).toContain('at least 96 %');
  expect(text).toContain('engine/x  1.000  [0.990, 1.010]  not slower');
});
