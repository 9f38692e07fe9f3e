import { expect, it } from 'vitest';
import { Resting } from './resting.ts';

it('what takes the place of something under a pointer that rests takes no press for a second', () => {
  const resting = new Resting();
  resting.moved('undo');
  expect(resting.isHeld(100)).toBe(false);
  resting.changed('redo', 200);
  expect(resting.isHeld(250)).toBe(true);
  resting.moved('redo');
  resting.changed('redo', 700);
  expect(resting.isHeld(1199)).toBe(true);
  expect(resting.isHeld(1200)).toBe(false);
});

it('to what the pointer has come by itself, or come back, a press is meant', () => {
  const resting = new Resting();
  resting.changed('one', 0);
  expect(resting.isHeld(10)).toBe(true);
  resting.moved(undefined);
  resting.moved('one');
  expect(resting.isHeld(20)).toBe(false);
  resting.changed(undefined, 30);
  expect(resting.isHeld(40)).toBe(false);
});
