import type { Subscription } from '@tollway/protocol/live/client-messages';
import type { ServerMessage } from '@tollway/protocol/live/server-messages';
import { expect, test } from 'vitest';
import { RowsTopic } from './rows-topic.ts';

test('rows follow the feed in its order, only while somebody listens', () => {
  const asked: Subscription[] = [];
  let open = 0;
  let receive: (message: ServerMessage) => void = () => {};
  const feed = {
    subscribe: (request: Subscription, listener: typeof receive) => {
      asked.push(request);
      open++;
      receive = listener;
      return { update: () => {}, close: () => open-- };
    },
  };
  const rows = new RowsTopic(feed, '/queue/simple', { count: 2, sort: { by: 'rate.download', desc: true } }, 2000);
  expect([rows.loaded, rows.rows, asked]).toEqual([false, [], []]);
  const stop = rows.listen(() => {});
  expect(asked).toEqual([
    {
      topic: 'menu',
      menu: '/queue/simple',
      intervalMs: 2000,
      first: 0,
      count: 2,
      sort: { by: 'rate.download', desc: true },
    },
  ]);
  const counts = { id: 1, total: 9, matched: 7 };
  receive({ op: 'snapshot', ...counts, first: 0, rows: [{ '.id': '*1' }, { '.id': '*2' }] });
  receive({ op: 'delta', ...counts, set: [{ '.id': '*3', name: 'c' }], remove: ['*1'], order: ['*3', '*2'] });
  expect(rows.rows).toEqual([{ '.id': '*3', name: 'c' }, { '.id': '*2' }]);
  expect([rows.loaded, rows.matched]).toEqual([true, 7]);
  stop();
  expect(open).toBe(0);
});
