import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCovered } from './cover.ts';

const desktop = { width: 100, height: 100 };
const rect = { x: 20, y: 20, width: 40, height: 40 };

test('a window below others is covered only when no part of it shows', () => {
  expect(isCovered(rect, [], desktop)).toBe(false);
  expect(isCovered(rect, [{ x: 0, y: 0, width: 100, height: 100 }], desktop)).toBe(true);
  expect(isCovered(rect, [{ x: 0, y: 0, width: 40, height: 100 }], desktop)).toBe(false);
  const halves = [
    { x: 0, y: 0, width: 40, height: 100 },
    { x: 40, y: 10, width: 30, height: 60 },
  ];
  expect(isCovered(rect, halves, desktop)).toBe(true);
});

test('what hangs over the edge of the desktop does not count', () => {
  const over = { x: 80, y: 20, width: 60, height: 20 };
  expect(isCovered(over, [{ x: 80, y: 0, width: 20, height: 100 }], desktop)).toBe(true);
  expect(isCovered({ ...over, x: 120 }, [], desktop)).toBe(true);
});

test('agrees with counting pixels', () => {
  const small = fc.record({
    x: fc.integer({ min: -4, max: 12 }),
    y: fc.integer({ min: -4, max: 12 }),
    width: fc.integer({ min: 1, max: 9 }),
    height: fc.integer({ min: 1, max: 9 }),
  });
  const tiny = { width: 10, height: 10 };
  const holds = (r: typeof rect, x: number, y: number) =>
    x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height;
  fc.assert(
    fc.property(small, fc.array(small, { maxLength: 6 }), (below, above) => {
      let shows = false;
      for (let x = 0; x < 10; x++) {
        for (let y = 0; y < 10; y++) {
          if (holds(below, x, y) && !above.some((each) => holds(each, x, y))) shows = true;
        }
      }
      expect(isCovered(below, above, tiny)).toBe(!shows);
    }),
  );
});
