import { menuByPath } from '@tollway/schema';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Row } from '../api/row.ts';
import { useToasts } from '../ui/toasts.ts';
import { changeParent } from './parents.ts';

const simple = menuByPath('/queue/simple');
if (simple === undefined) throw new Error('the menu is missing');

const sent = vi.fn<(path: string, options: RequestInit) => Promise<Response>>(async () => new Response('[]'));
const requests = () =>
  sent.mock.calls.map(([path, { method, body }]) => [method, path, JSON.parse(String(body))] as const);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', sent);
  sent.mockClear();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  useToasts.setState({ toasts: [] });
});

const rows: readonly Row[] = [
  { '.id': '*1', name: 'a', parent: 'isp' },
  { '.id': '*2', name: 'b' },
  { '.id': '*3', name: 'c', parent: 'office' },
];
const newest = () => useToasts.getState().toasts.at(-1);

test('all that is chosen gets the parent, and what is taken back is one change', async () => {
  await changeParent(simple, { ids: ['*1', '*2', '*3'], rows }, 'hall');
  expect(newest()?.text).toBe('3 items are below hall now.');
  newest()?.action?.run();
  await vi.runAllTimersAsync();
  expect(requests()).toEqual([
    ['POST', '/rest/queue/simple/set', { '.id': '*1,*2,*3', parent: 'hall' }],
    [
      'PATCH',
      '/rest/queue/simple',
      [
        { '.id': '*1', parent: 'isp' },
        { '.id': '*2', parent: 'none' },
        { '.id': '*3', parent: 'office' },
      ],
    ],
  ]);
});

test('rows that are not loaded change too; what they were below is not known', async () => {
  const ids = Array.from({ length: 25_000 }, (_, index) => `*${(index + 1).toString(16).toUpperCase()}`);
  await changeParent(simple, { ids, rows }, 'none');
  expect(requests()).toEqual([['POST', '/rest/queue/simple/set', { '.id': ids.join(','), parent: 'none' }]]);
  expect(newest()).toMatchObject({ text: '25000 items are at the root now.' });
  expect(newest()?.action).toBeUndefined();
});
