import type { Subscription } from '@tollway/protocol/live/client-messages';
import type { ServerMessage } from '@tollway/protocol/live/server-messages';
import type { PacketTrace, TracedRow } from '@tollway/protocol/live/trace';
import { expect, test } from 'vitest';
import { dryRun, followTrace, type TraceNews } from './trace.ts';

const row: Required<TracedRow> = { id: '*9', menu: '/ip/firewall/filter', label: '#9 log', effect: 'logged by' };
const packet: Required<PacketTrace> = {
  number: 1,
  timeMs: 2,
  in: 'ether2',
  out: 'ether1',
  protocol: 'tcp',
  src: '192.168.88.10:40000',
  dst: '198.51.100.1:443',
  length: 1500,
  segments: 45,
  fast: false,
  slowReason: 'new-connection',
  outcome: 'dropped',
  dropReason: 'filter-drop',
  steps: [{ stage: 'filter', decision: 'dropped', rows: [row] }],
};

/** A message of the trace. */
const reported = (numbers: readonly number[], lost: number, done = false): ServerMessage => ({
  id: 1,
  op: 'trace',
  packets: numbers.map((number) => ({ ...packet, number })),
  lost,
  done,
});

/** A connection that remembers what is asked, and lets a test answer. */
function connection() {
  const asked: {
    request: Subscription;
    receive: (message: ServerMessage) => void;
    anew?: () => void;
    closed: boolean;
  }[] = [];
  return {
    asked,
    subscribe(request: Subscription, receive: (message: ServerMessage) => void, anew?: () => void) {
      const subscription = { request, receive, closed: false, ...(anew && { anew }) };
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
  expect(one?.request).toEqual({ topic: 'trace', dry: true, arguments: { packet: 'x' } });
  one?.receive(reported([1], 0, true));
  await expect(answer).resolves.toEqual({ packets: [packet], done: true, lost: 0, breaks: 0 });
  expect(one?.closed).toBe(true);
});

test('what is wrong is reported with its property', async () => {
  const socket = connection();
  const answer = dryRun({}, socket);
  socket.asked[0]?.receive({ op: 'error', id: 1, detail: 'no', property: 'packet' });
  await expect(answer).rejects.toMatchObject({ message: 'no', property: 'packet' });
});

test('a live trace is not asked for again once it has its packets', () => {
  const socket = connection();
  const heard: unknown[] = [];
  followTrace({}, { onNews: (news) => heard.push(news), onError: () => undefined }, socket);
  const [one] = socket.asked;
  one?.receive(reported([], 3));
  expect(one?.closed).toBe(false);
  one?.receive(reported([], 3, true));
  expect(one?.closed).toBe(true);
  expect(heard).toEqual([
    { packets: [], done: false, lost: 3, breaks: 0 },
    { packets: [], done: true, lost: 3, breaks: 0 },
  ]);
});

test('a trace that goes on over a new connection says so, and counts what was lost before', () => {
  const socket = connection();
  const heard: unknown[] = [];
  const onNews = ({ breaks, lost, packets }: TraceNews) => heard.push([breaks, lost, packets[0]?.number]);
  followTrace({}, { onNews, onError: () => undefined }, socket);
  const [one] = socket.asked;
  one?.receive(reported([1], 3));
  one?.anew?.();
  one?.receive(reported([1], 0));
  one?.receive(reported([2], 2));
  expect(heard).toEqual([
    [0, 3, 1],
    [1, 3, 1],
    [1, 5, 2],
  ]);
});
