import type { ShownPacket, TracedRow } from '@tollway/schema';
import { expect, test } from 'vitest';
import type { Message } from './socket.ts';
import { dryRun, followTrace, type TraceNews, traceNews } from './trace.ts';

/** A connection that remembers what is asked, and lets a test answer. */
function connection() {
  const asked: { request: Message; receive: (message: Message) => void; anew?: () => void; closed: boolean }[] = [];
  return {
    asked,
    subscribe(request: Message, receive: (message: Message) => void, anew?: () => void) {
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
  one?.receive({ op: 'trace', packets: [{ number: 1 }], lost: 3 });
  one?.anew?.();
  one?.receive({ op: 'trace', packets: [{ number: 1 }], lost: 0 });
  one?.receive({ op: 'trace', packets: [{ number: 2 }], lost: 2 });
  expect(heard).toEqual([
    [0, 3, 1],
    [1, 3, 1],
    [1, 5, 2],
  ]);
});

test('a packet comes with all that the router says of it', () => {
  const row: Required<TracedRow> = { id: '*9', menu: '/ip/firewall/filter', label: '#9 log', effect: 'logged by' };
  const packet: Required<ShownPacket> = {
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
    slowReason: 'first-packet',
    outcome: 'dropped',
    dropReason: 'filter-drop',
    steps: [{ stage: 'filter', decision: 'dropped', rows: [row] }],
  };
  expect(traceNews({ op: 'trace', packets: [packet] })?.packets).toEqual([packet]);
});
