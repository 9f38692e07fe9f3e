import { afterEach, expect, test, vi } from 'vitest';
import { LiveSocket, retryDelay, type SocketState } from './socket.ts';

test('retries start at once and never wait longer than 2 s', () => {
  expect([0, 1, 2, 3, 4, 50].map(retryDelay)).toEqual([250, 500, 1000, 2000, 2000, 2000]);
});

/** A browser's WebSocket without a network. */
class Wire {
  static last: Wire | undefined;
  onopen: () => void = () => {};
  onmessage: (event: { readonly data: string }) => void = () => {};
  onclose: (event: { readonly code: number }) => void = () => {};

  constructor() {
    Wire.last = this;
  }

  close(): void {}
}

afterEach(() => {
  vi.unstubAllGlobals();
});

/** States that a connection goes through when it opens and the server closes it with this code. */
function closedBy(code: number): { readonly states: readonly SocketState[]; readonly asked: number } {
  vi.stubGlobal('WebSocket', Wire);
  let asked = 0;
  const socket = new LiveSocket(
    () => 'ws://router/live',
    () => {
      asked++;
    },
  );
  const states: SocketState[] = [];
  socket.onState(() => states.push(socket.state));
  socket.open();
  Wire.last?.onopen();
  Wire.last?.onclose({ code });
  socket.close();
  return { states, asked };
}

test('a connection that ends with the session is not lost; either way it is asked whether the session lives', () => {
  expect(closedBy(1006)).toEqual({ states: ['connecting', 'open', 'lost', 'closed'], asked: 1 });
  expect(closedBy(4401)).toEqual({ states: ['connecting', 'open', 'closed'], asked: 1 });
});
