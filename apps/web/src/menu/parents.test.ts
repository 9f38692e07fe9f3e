import { menuByPath } from '@tollway/schema';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Row } from '../api/row.ts';
import { useToasts } from '../ui/toasts.ts';
import { changeParent } from './parents.ts';

const simple = menuByPath('/queue/simple');
if (simple === undefined) throw new Error('the menu is missing');

const sent = vi.fn<(path: string, options: RequestInit) => Promise<Response>>(
  async () => new Response('[]', { headers: { 'x-tollway-revision': '7' } }),
);
const requests = () =>
  sent.mock.calls.map(([path, { method, body }]) => [method, path, body && JSON.parse(String(body))] as const);

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

const rows: readonly Row[] = [{ '.id': '*1', name: 'a', parent: 'isp' }];
const newest = () => useToasts.getState().toasts.at(-1);

test('all that is chosen gets the parent in one change, which can be undone though few of the rows are loaded', async () => {
  const ids = Array.from({ length: 25_000 }, (_, index) => `*${(index + 1).toString(16).toUpperCase()}`);
  await changeParent(simple, { ids, rows }, 'none');
  expect(newest()).toMatchObject({ text: '25 000 items are at the root now.' });
  newest()?.action?.run();
  await vi.advanceTimersByTimeAsync(0);
  expect(requests()).toEqual([
    ['POST', '/rest/queue/simple/set', { '.id': ids.join(','), parent: 'none' }],
    ['POST', '/api/v1/revisions/7/undo', undefined],
  ]);
  await changeParent(simple, { ids: ['*1'], rows }, 'hall');
  expect(newest()?.text).toBe('a is below hall now.');
});
