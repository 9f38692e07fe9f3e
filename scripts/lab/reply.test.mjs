// @ts-check
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { reply } from './reply.mjs';

/** @type {import('node:dgram').Socket} */
let socket;
beforeEach(async () => {
  socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
});
afterEach(() => {
  socket.close();
});

test('a datagram is answered where it came from', async () => {
  const { port } = socket.address();
  reply(socket, 'hello', { address: '127.0.0.1', port });
  const [message] = await once(socket, 'message');
  expect(String(message)).toBe('hello');
});

test('one from port 0 is not answered', () => {
  expect(() => reply(socket, 'hello', { address: '127.0.0.1', port: 0 })).not.toThrow();
});
