import { expect, it } from 'vitest';
import { nextRowRange } from './row-range.ts';

const screen = (top: number, total = 1_000) => ({ top, last: top + 19, fitting: 20, total });

it('asks for nothing while the rows at hand reach well beyond the screen', () => {
  expect(nextRowRange(screen(40), { first: 10, count: 80 })).toBeUndefined();
});

it('asks for the rows around the screen when it is not covered, or its edge is near', () => {
  expect(nextRowRange(screen(500), { first: 10, count: 80 })).toEqual({ first: 470, count: 80 });
  expect(nextRowRange(screen(12), { first: 10, count: 80 })).toEqual({ first: 0, count: 80 });
  expect(nextRowRange(screen(65), { first: 10, count: 80 })).toEqual({ first: 35, count: 80 });
});

it('does not ask beyond the ends of the list', () => {
  expect(nextRowRange(screen(0), { first: 0, count: 80 })).toBeUndefined();
  expect(nextRowRange(screen(65, 90), { first: 10, count: 80 })).toBeUndefined();
});
