import type { ServerMessage } from '@tollway/protocol/live/server-messages';
import { expect, test } from 'vitest';
import { Topic } from './topic.ts';

test('listeners share one subscription, which ends with the last of them', () => {
  let open = 0;
  let receive: (message: ServerMessage) => void = () => {};
  const feed = {
    subscribe: (_: object, listener: typeof receive) => {
      open++;
      receive = listener;
      return { update: () => {}, close: () => open-- };
    },
  };
  const got: unknown[] = [];
  const topic = new Topic(feed, { topic: 'traffic' }, (message) => got.push(message.op === 'error' && message.detail));
  let calls = 0;
  const listener = () => calls++;
  expect(open).toBe(0);
  const first = topic.listen(listener);
  const second = topic.listen(listener);
  expect(open).toBe(1);
  receive({ op: 'error', id: 1, detail: '1' });
  expect([got, calls]).toEqual([['1'], 2]);
  first();
  first();
  receive({ op: 'error', id: 1, detail: '2' });
  expect([got, calls, open]).toEqual([['1', '2'], 3, 1]);
  second();
  expect(open).toBe(0);
  topic.listen(listener);
  expect(open).toBe(1);
});
