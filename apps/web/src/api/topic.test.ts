import { expect, test } from 'vitest';
import type { Message } from './socket.ts';
import { Topic } from './topic.ts';

test('listeners share one subscription, which ends with the last of them', () => {
  let open = 0;
  let receive: (message: Message) => void = () => {};
  const feed = {
    subscribe: (_: Message, listener: typeof receive) => {
      open++;
      receive = listener;
      return { update: () => {}, close: () => open-- };
    },
  };
  const got: unknown[] = [];
  const topic = new Topic(feed, { topic: 'x' }, (message) => got.push(message.t));
  let calls = 0;
  const listener = () => calls++;
  expect(open).toBe(0);
  const first = topic.listen(listener);
  const second = topic.listen(listener);
  expect(open).toBe(1);
  receive({ t: 1 });
  expect([got, calls]).toEqual([[1], 2]);
  first();
  first();
  receive({ t: 2 });
  expect([got, calls, open]).toEqual([[1, 2], 3, 1]);
  second();
  expect(open).toBe(0);
  topic.listen(listener);
  expect(open).toBe(1);
});
