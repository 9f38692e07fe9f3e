import { describe, expect, it } from 'vitest';
import { halvesOf, pairWith } from './pair-text.ts';

describe('a pair', () => {
  it('is typed half by half', () => {
    expect(pairWith('10M', 0, ['', '5M'])).toEqual({ value: '10M/5M', next: false });
    expect(pairWith('5M', 1, ['10M', ''])).toEqual({ value: '10M/5M', next: false });
  });

  it('is typed as a whole: the slash leads to the second half', () => {
    expect(pairWith('10M/', 0, ['10M', '0'])).toEqual({ value: '10M/0', next: true });
    expect(pairWith('/', 0, ['', '5M'])).toEqual({ value: '/5M', next: true });
    expect(pairWith('5M/', 1, ['10M', '5M'])).toEqual({ value: '10M/5M', next: false });
  });

  it('is pasted into either half', () => {
    for (const at of [0, 1]) expect(pairWith('10M/5M', at, ['1', '2']).value).toBe('10M/5M');
    expect(pairWith('10M/5M/0', 0, ['', '']).value).toBe('10M/5M0');
  });

  it('of one value stands for both', () => {
    expect(halvesOf('10M')).toEqual(['10M', '10M']);
    expect(halvesOf('10M/')).toEqual(['10M', '']);
    expect(halvesOf(undefined)).toEqual([undefined, undefined]);
  });
});
