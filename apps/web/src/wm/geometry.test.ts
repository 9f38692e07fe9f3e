import { expect, it } from 'vitest';
import { isInSight } from './geometry.ts';

const desktop = { width: 1000, height: 600 };

it.each([
  ['a button on the desktop', { x: 900, y: 560, width: 80, height: 24 }, true],
  ['a button that hangs over the right edge', { x: 950, y: 100, width: 80, height: 24 }, false],
  ['a button below the desktop', { x: 100, y: 610, width: 80, height: 24 }, false],
  ['a list of which the left part is there', { x: 700, y: 100, width: 900, height: 400 }, true],
  ['a list of which a strip is there', { x: 880, y: 100, width: 900, height: 400 }, false],
  ['a list that is larger than the desktop', { x: -100, y: -100, width: 1300, height: 900 }, true],
])('of %s enough is seen: %s', (_, rect, seen) => {
  expect(isInSight(rect, desktop)).toBe(seen);
});
