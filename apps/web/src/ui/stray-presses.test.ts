import { expect, it } from 'vitest';
import { isStray, type Press } from './stray-presses.ts';

const win = {};
const list = {};
const first: Press = { at: 1000, x: 400, y: 20, surface: win, edges: '0 500 0', onControl: true };

it.each([
  ['what is beneath the window that the first press closed', { surface: list }, true],
  ['the page itself', { surface: null }, true],
  ['the same window', {}, false],
  ['the window that has moved away from under the pointer', { edges: '0 1200 0' }, true],
  ['something else, after a while', { surface: list, at: 1501 }, false],
  ['something else, elsewhere', { surface: list, x: 420 }, false],
  ['something else, a little aside', { surface: list, x: 404, y: 17 }, true],
])('a second press on %s', (_, part, stray) => {
  expect(isStray(first, { ...first, at: 1200, ...part }, false)).toBe(stray);
});

it('the browser’s own count of clicks goes before time and place', () => {
  expect(isStray(first, { ...first, at: 1800, surface: list }, true)).toBe(true);
  expect(isStray(first, { ...first, at: 1800 }, true)).toBe(false);
});

it('an edge that was just pulled can be pulled again at once; a first press is never stray', () => {
  expect(isStray({ ...first, onControl: false }, { ...first, at: 1200, edges: '0 504 0' }, false)).toBe(false);
  expect(isStray(undefined, first, false)).toBe(false);
});
