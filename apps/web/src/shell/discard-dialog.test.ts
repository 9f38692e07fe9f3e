import { expect, it } from 'vitest';
import { together } from './DiscardDialog.tsx';

it.each([
  [['Identity'], 'Identity'],
  [['Identity', 'Clock'], 'Identity and Clock'],
  [['a', 'b', 'c', 'd'], 'a, b, c and d'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more windows'],
])('windows %j are reported as %s', (titles, text) => {
  expect(together(titles)).toBe(text);
});
