// @ts-check
import { expect, test } from 'vitest';
import { identify, startTimeIn } from './process.mjs';

/**
 * Fields of proc_pid_stat(5) from the third on, of a process with so many threads left.
 * @param {string} state @param {number} threads
 */
const fields = (state, threads) =>
  `${state} 1 900 900 0 -1 4194560 5211 0 0 0 31 12 0 0 20 0 ${threads} 0 8812345 0 0 18446744073709551615`.split(' ');

test('a process is there until its last thread has ended', () => {
  expect(startTimeIn(fields('S', 14))).toBe('8812345');
  // Killed: the first thread has ended, a worker still waits for its core.
  expect(startTimeIn(fields('Z', 2))).toBe('8812345');
  expect(startTimeIn(fields('Z', 1))).toBeUndefined();
  expect(startTimeIn(fields('X', 0))).toBeUndefined();
});

test('a process is known by its pid and start', () => {
  expect(identify(process.pid)).toEqual({ pid: process.pid, startTime: expect.stringMatching(/^[0-9]+$/) });
});
