import { menuByPath } from '@tollway/schema';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useToasts } from '../ui/toasts.ts';
import { removeItems } from './actions.ts';

const simple = menuByPath('/queue/simple');
if (simple === undefined) throw new Error('the menu is missing');

const sent = vi.fn<(path: string, options: RequestInit) => Promise<Response>>();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', sent);
  sent.mockReset();
  sent.mockImplementation(async (_, { method }) =>
    Response.json(method === 'GET' ? ['*1', '*2', '*3'].map((id) => ({ '.id': id })) : []),
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  useToasts.setState({ toasts: [] });
});

const rows = [
  { '.id': '*1', name: 'desk', parent: 'floor' },
  { '.id': '*2', name: 'floor', parent: 'none' },
];
const ADDED = [
  { name: 'floor', 'place-before': '*3' },
  { name: 'desk', parent: 'floor', 'place-before': 'floor' },
];

test('what is removed from a tree comes back in one change, where it stood in the menu', async () => {
  // The table is sorted, or shows a tree: it does not tell where they stand.
  expect(await removeItems(simple, rows, ['*2', '*1'], undefined)).toBe(true);
  useToasts.getState().toasts.at(-1)?.action?.run();
  await vi.runAllTimersAsync();
  const requests = sent.mock.calls.map(([path, { method, body }]) => [method, path, body && JSON.parse(String(body))]);
  expect(requests).toEqual([
    ['GET', '/rest/queue/simple?.proplist=.id', undefined],
    ['POST', '/rest/queue/simple/remove', { '.id': '*2,*1' }],
    ['PUT', '/rest/queue/simple', ADDED],
  ]);
});

test('a list that tells its order is asked for nothing; of rows that are not known nothing can come back', async () => {
  await removeItems(simple, rows, ['*1', '*2'], ['*1', '*2', '*3']);
  expect(useToasts.getState().toasts.at(-1)?.action).toBeDefined();
  await removeItems(simple, rows, ['*1', '*2', '*9'], undefined);
  expect(useToasts.getState().toasts.at(-1)?.action).toBeUndefined();
  expect(sent.mock.calls.map(([path]) => path)).toEqual(['/rest/queue/simple/remove', '/rest/queue/simple/remove']);
});
