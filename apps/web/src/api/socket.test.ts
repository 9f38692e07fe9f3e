import { afterEach, expect, test, vi } from 'vitest';
import { LiveSocket, retryDelay, type SocketState } from './socket.ts';

test('retries start at once and never wait longer than 2 s', () => {
  expect([0, 1, 2, 3, 4, 50].map(retryDelay)).toEqual([250, 500, 1000, 2000, 2000, 2000]);
});

/** A browser's WebSocket without a network. */
class Wire {
  static readonly OPEN = 1;
  static last: Wire | undefined;
  readonly readyState = Wire.OPEN;
  readonly sent: string[] = [];
  onopen: () => void = () => {};
  onmessage: (event: { readonly data: string }) => void = () => {};
  onclose: (event: { readonly code: number }) => void = () => {};

  constructor() {
    Wire.last = this;
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {}
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
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

test('a subscription hears that it begins anew by another connection, before its answers', () => {
  vi.stubGlobal('WebSocket', Wire);
  vi.useFakeTimers();
  const socket = new LiveSocket(
    () => 'ws://router/live',
    () => {},
  );
  const heard: unknown[] = [];
  const follow = (name: 'early' | 'late' | 'between') =>
    socket.subscribe(
      { topic: 'token-bucket', menu: '/queue/tree', queue: name },
      (message) => heard.push(message.op === 'error' && message.detail),
      () => heard.push(`${name} anew`),
    );
  follow('early');
  socket.open();
  Wire.last?.onopen();
  follow('late');
  expect(heard).toEqual([]);
  Wire.last?.onclose({ code: 1006 });
  follow('between');
  vi.advanceTimersByTime(250);
  Wire.last?.onopen();
  Wire.last?.onmessage({ data: '{"id":1,"op":"error","detail":"answer"}' });
  expect(heard).toEqual(['early anew', 'late anew', 'answer']);
  expect(Wire.last?.sent).toHaveLength(3);
  socket.close();
});
