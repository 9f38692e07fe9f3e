import { expect, it } from 'vitest';
import { nextRowWindow } from './row-window.ts';

const screen = (top: number, total = 1_000) => ({ top, last: top + 19, fitting: 20, total });

it('asks for nothing while the rows at hand reach well beyond the screen', () => {
  expect(nextRowWindow(screen(40), { first: 10, count: 80 })).toBeUndefined();
});

it('asks for the rows around the screen when it is not covered, or its edge is near', () => {
  expect(nextRowWindow(screen(500), { first: 10, count: 80 })).toEqual({ first: 470, count: 80 });
  expect(nextRowWindow(screen(12), { first: 10, count: 80 })).toEqual({ first: 0, count: 80 });
  expect(nextRowWindow(screen(65), { first: 10, count: 80 })).toEqual({ first: 35, count: 80 });
});

it('does not ask beyond the ends of the list', () => {
  expect(nextRowWindow(screen(0), { first: 0, count: 80 })).toBeUndefined();
  expect(nextRowWindow(screen(65, 90), { first: 10, count: 80 })).toBeUndefined();
});
