// @ts-check
import { expect, test } from 'vitest';
import { drawCurves, formatCurves, niceTop, short } from './curves.mjs';

/** @type {import('./curves.mjs').Plot} */
const PLOT = {
  axis: 'rules',
  curves: [
    {
      name: 'flow cache',
      points: [
        [2, 50],
        [10_000, 51.26],
      ],
    },
  ],
};

test('a plot has each curve with each of its points within the frame', () => {
  const drawn = drawCurves([PLOT]);
  const circles = [...drawn.matchAll(/cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);
  expect(circles).toHaveLength(2);
  for (const [x = 0, y = 0] of circles) {
    expect(x).toBeGreaterThanOrEqual(44);
    expect(x).toBeLessThanOrEqual(366);
    expect(y).toBeGreaterThanOrEqual(52);
    expect(y).toBeLessThanOrEqual(210);
  }
  expect(drawn).toContain('flow cache');
});

test('figures are readable', () => {
  expect(formatCurves([PLOT])).toContain('10000 → 51.3');
  expect([3.2, 51, 83, 210].map(niceTop)).toEqual([4, 80, 100, 400]);
  expect([25, 10_000, 65_536, 1_048_576, 900_000].map(short)).toEqual(['25', '10k', '64Ki', '1Mi', '900k']);
});
