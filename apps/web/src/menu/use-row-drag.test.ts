import { expect, test } from 'vitest';
import { hasLeft } from './use-row-drag.ts';

test('a drag has left the list beside it, and well above or below it', () => {
  const list = { left: 100, right: 500, top: 200, bottom: 600 };
  expect(hasLeft(list, 300, 400)).toBe(false);
  expect(hasLeft(list, 300, 630)).toBe(false);
  expect(hasLeft(list, 300, 170)).toBe(false);
  expect(hasLeft(list, 99, 400)).toBe(true);
  expect(hasLeft(list, 501, 400)).toBe(true);
  expect(hasLeft(list, 300, 700)).toBe(true);
  expect(hasLeft(list, 300, 100)).toBe(true);
});
