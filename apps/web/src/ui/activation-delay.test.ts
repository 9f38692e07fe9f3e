import { expect, it } from 'vitest';
import { ActivationDelay } from './activation-delay.ts';

it('what takes the place of something under a pointer that rests takes no press for a second', () => {
  const delay = new ActivationDelay();
  delay.moved('undo');
  expect(delay.isActive(100)).toBe(false);
  delay.changed('redo', 200);
  expect(delay.isActive(250)).toBe(true);
  delay.moved('redo');
  delay.changed('redo', 700);
  expect(delay.isActive(1199)).toBe(true);
  expect(delay.isActive(1200)).toBe(false);
});

it('to what the pointer has come by itself, or come back, a press is meant', () => {
  const delay = new ActivationDelay();
  delay.changed('one', 0);
  expect(delay.isActive(10)).toBe(true);
  delay.moved(undefined);
  delay.moved('one');
  expect(delay.isActive(20)).toBe(false);
  delay.changed(undefined, 30);
  expect(delay.isActive(40)).toBe(false);
});
