import { expect, test } from 'vitest';
import { retryDelay } from './socket.ts';

test('retries start at once and never wait longer than 2 s', () => {
  expect([0, 1, 2, 3, 4, 50].map(retryDelay)).toEqual([250, 500, 1000, 2000, 2000, 2000]);
});
