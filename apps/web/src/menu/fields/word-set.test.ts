import { expect, test } from 'vitest';
import { triOf, withTri, withWord } from './word-set.ts';

const values = ['fin', 'syn', 'rst', 'ack'];

test('words are added and taken away in the order of the set', () => {
  expect(withWord('rst', values, 'fin', true)).toBe('fin,rst');
  expect(withWord('fin,rst', values, 'rst', false)).toBe('fin');
  expect(withWord('fin', values, 'fin', false)).toBe('');
});

test('three states of a word', () => {
  expect(triOf('syn,!ack', 'syn')).toBe('on');
  expect(triOf('syn,!ack', 'ack')).toBe('not');
  expect(triOf('syn,!ack', 'fin')).toBe('off');
  expect(withTri('syn', values, 'ack', 'not')).toBe('syn,!ack');
  expect(withTri('syn,!ack', values, 'ack', 'off')).toBe('syn');
  expect(withTri('!syn', values, 'syn', 'on')).toBe('syn');
});
