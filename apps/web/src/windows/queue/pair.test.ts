import { expect, test } from 'vitest';
import { halves, queueLoad } from './pair.ts';

test('a pair has two halves, one number stands for both', () => {
  expect(halves('1/2')).toEqual([1, 2]);
  expect(halves('7')).toEqual([7, 7]);
  expect(halves(undefined)).toEqual([0, 0]);
  expect(halves('x/3')).toEqual([0, 3]);
});

test('the load is that of the direction nearer to its limit', () => {
  expect(queueLoad('5/10', '10/100')).toBe(0.5);
  expect(queueLoad('5/10', '0/20')).toBe(0.5);
  expect(queueLoad('5/10', '0/0')).toBe(0);
  expect(queueLoad(undefined, '10/10')).toBe(0);
});
