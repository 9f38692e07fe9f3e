import { expect, test } from 'vitest';
import { clockOf } from '../src/view/resource.js';

test('the clock is the first core’s, in whole MHz; nothing where the kernel does not tell it', () => {
  expect(
    clockOf('processor\t: 0\ncpu MHz\t\t: 2445.430\nbogomips\t: 4890.86\n\nprocessor\t: 1\ncpu MHz\t\t: 900.000\n'),
  ).toBe(2445);
  expect(clockOf('processor\t: 0\nBogoMIPS\t: 243.75\n')).toBe(0);
  expect(clockOf('')).toBe(0);
});
