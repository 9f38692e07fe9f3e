import type { Subscription } from '@tollway/protocol/live/client-messages';
import type { Condition, RowQueryPart } from '@tollway/protocol/live/row-query';
import type { ServerMessage } from '@tollway/protocol/live/server-messages';
import { expect, test } from 'vitest';
import { LiveMenu, mapItems } from './live-menu.ts';

/** A subscription to three rows, and a way to send it messages as the server does. */
function threeRows() {
  const asked: unknown[] = [];
  let receive: (message: ServerMessage) => void = () => {};
  const subscribed: Subscription[] = [];
  let closed = 0;
  const feed = {
    subscribe: (request: Subscription, listener: typeof receive) => {
      subscribed.push(request);
      receive = listener;
      return {
        update: (part: unknown) => asked.push(part),
        close: () => {
          closed++;
        },
      };
    },
  };
  const live = new LiveMenu(feed, '/x', { first: 0, count: 10, sort: null, filter: {}, find: '' }, 1000);
  live.open();
  const counts = { id: 1, total: 3, matched: 3 };
  receive({ op: 'snapshot', ...counts, first: 0, rows: ['*1', '*2', '*3'].map((id) => ({ '.id': id })) });
  const closedCount = () => closed;
  return {
    live,
    asked,
    subscribed,
    closedCount,
    order: (...order: string[]) => receive({ op: 'delta', ...counts, set: [], remove: [], order }),
    refuse: (detail: string, condition?: Condition) => receive({ op: 'error', id: 1, detail, condition }),
    answer: (...ids: string[]) =>
      receive({ op: 'snapshot', ...counts, first: 0, rows: ids.map((id) => ({ '.id': id })) }),
  };
}

const before = (id: string, destination: string) => (order: readonly string[]) =>
  order.flatMap((each) => (each === id ? [] : each === destination ? [id, each] : [each]));

test('orders from before a move do not undo what the user sees, so that a second move builds on the first', () => {
  const { live, order } = threeRows();
  const first = live.reorder(before('*3', '*2'));
  expect(live.shown).toEqual(['*1', '*3', '*2']);
  const second = live.reorder(before('*3', '*1'));
  order('*1', '*3', '*2');
  expect(live.shown).toEqual(['*3', '*1', '*2']);
  first();
  order('*3', '*1', '*2');
  second();
  expect(live.shown).toEqual(['*3', '*1', '*2']);
});

test('when a move is settled the server’s order counts alone', () => {
  const { live, order } = threeRows();
  live.reorder(before('*3', '*1'))();
  order('*2', '*1', '*3');
  expect(live.shown).toEqual(['*2', '*1', '*3']);
});

test('a list out of sight has no subscription, keeps its rows, and comes back at its place', () => {
  const { live, subscribed, closedCount } = threeRows();
  live.close();
  expect(closedCount()).toBe(1);
  expect(live.shown).toEqual(['*1', '*2', '*3']);
  live.changeQuery({ first: 2, find: 'a' });
  live.open();
  live.open();
  expect(subscribed).toHaveLength(2);
  expect(subscribed[1]).toMatchObject({ first: 2, find: 'a' });
  expect(live.shown).toEqual(['*1', '*2', '*3']);
});

test('a frozen list takes no news, and asks for what it missed when it thaws', () => {
  const { live, order, asked } = threeRows();
  live.freeze(true);
  order('*3', '*2', '*1');
  expect(live.shown).toEqual(['*1', '*2', '*3']);
  expect(asked).toEqual([]);
  live.freeze(false);
  expect(asked.length).toBe(1);
  order('*3', '*2', '*1');
  expect(live.shown).toEqual(['*3', '*2', '*1']);
});

test('a frozen list stays as it is when it was out of sight, and takes what is asked for', () => {
  const { live, answer, asked } = threeRows();
  live.freeze(true);
  live.close();
  live.open();
  answer('*2', '*3', '*4');
  expect(live.shown).toEqual(['*1', '*2', '*3']);
  live.changeQuery({ find: '4' });
  answer('*4');
  expect(live.shown).toEqual(['*4']);
  answer('*5');
  expect(live.shown).toEqual(['*4']);
  asked.length = 0;
  live.freeze(false);
  expect(asked.length).toBe(1);
  answer('*5');
  expect(live.shown).toEqual(['*5']);
});

test('a list that was frozen while it was out of sight has the news when it is seen again', () => {
  const { live, answer } = threeRows();
  live.freeze(true);
  live.close();
  live.freeze(false);
  live.open();
  answer('*2', '*3', '*4');
  expect(live.shown).toEqual(['*2', '*3', '*4']);
});

test('a refused filter shows no rows, whatever comes of the rows before, until another one is answered', () => {
  const { live, order, refuse, answer, subscribed, closedCount } = threeRows();
  live.changeQuery({ filter: { address: [{ op: 'in', value: '10.0.0.0/33' }] } });
  const asked = { column: 'address', op: 'in', value: '10.0.0.0/33' } as const;
  refuse('filter: 10.0.0.0/33 is no address', asked);
  order('*3', '*2', '*1');
  expect([live.error, live.shown, live.state.loaded]).toEqual(['filter: 10.0.0.0/33 is no address', [], false]);
  expect(live.refused).toEqual({ ...asked, why: '10.0.0.0/33 is no address' });
  live.changeQuery({ filter: { address: [{ op: 'in', value: '10.0.0.0/32' }] } });
  expect(live.refused).toBeUndefined();
  expect([live.error, subscribed.length, closedCount()]).toEqual([undefined, 2, 1]);
  answer('*2');
  expect([live.error, live.shown]).toEqual([undefined, ['*2']]);
});

test('all rows that pass a query come page by page, and are what is wanted of them', async () => {
  const all = Array.from({ length: 2_500 }, (_, at) => ({ '.id': `*${at}`, comment: `b${at}` }));
  const feed = {
    subscribe: (_: object, listener: (message: ServerMessage) => void) => {
      const page = (first: number) =>
        listener({ id: 1, op: 'snapshot', total: 2_500, matched: 2_500, first, rows: all.slice(first, first + 1_000) });
      queueMicrotask(() => page(0));
      return {
        update: ({ first }: RowQueryPart) => queueMicrotask(() => page(Number(first))),
        close: () => {},
      };
    },
  };
  const query = { first: 0, count: 10, sort: null, filter: {}, find: '' };
  const chosen = new Set(['*2400', '*3', '*1001']);
  const comments = mapItems(feed, '/x', query, (id, row) => (chosen.has(id) ? row.comment : undefined));
  expect(await comments).toEqual(['b3', 'b1001', 'b2400']);
});
