import { expect, test } from 'vitest';
import type { Message } from './socket.ts';
import { dryRun, followTrace } from './trace.ts';

/** A connection that remembers what is asked, and lets a test answer. */
function connection() {
  const asked: { request: Message; receive: (message: Message) => void; closed: boolean }[] = [];
  return {
    asked,
    subscribe(request: Message, receive: (message: Message) => void) {
      const subscription = { request, receive, closed: false };
      asked.push(subscription);
      return {
        update: () => undefined,
        close: () => {
          subscription.closed = true;
        },
      };
    },
  };
}

test('a dry run is asked once and ends with its answer', async () => {
  const socket = connection();
  const answer = dryRun({ packet: 'x' }, socket);
  const [one] = socket.asked;
  expect(one?.request).toEqual({ topic: 'trace', dry: true, words: { packet: 'x' } });
  one?.receive({ op: 'trace', packets: [{ number: 1, outcome: 'dropped', steps: [{ stage: 'route', rows: [] }] }] });
  await expect(answer).resolves.toMatchObject({ packets: [{ number: 1, outcome: 'dropped', fast: false }] });
  expect(one?.closed).toBe(true);
});

test('what is wrong is told with its property', async () => {
  const socket = connection();
  const answer = dryRun({}, socket);
  socket.asked[0]?.receive({ op: 'error', detail: 'no', property: 'packet' });
  await expect(answer).rejects.toMatchObject({ message: 'no', property: 'packet' });
});

test('a live trace is not asked for again once it has its packets', () => {
  const socket = connection();
  const heard: unknown[] = [];
  followTrace({}, { onNews: (news) => heard.push(news), onError: () => undefined }, socket);
  const [one] = socket.asked;
  one?.receive({ op: 'trace', packets: [], done: false, lost: 3 });
  expect(one?.closed).toBe(false);
  one?.receive({ op: 'trace', packets: [], done: true, lost: 3 });
  expect(one?.closed).toBe(true);
  expect(heard).toEqual([
    { packets: [], done: false, lost: 3 },
    { packets: [], done: true, lost: 3 },
  ]);
});
