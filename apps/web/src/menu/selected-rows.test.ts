import { menuByPath } from '@tollway/schema';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { commentNow, commentsOf, removalBlockedReason, rowsWith } from './selected-rows.ts';

const lists = menuByPath('/ip/firewall/address-list');
if (lists === undefined) throw new Error('the menu is missing');

const sent = vi.fn<(path: string, options: RequestInit) => Promise<Response>>();
beforeEach(() => {
  sent.mockReset();
  vi.stubGlobal('fetch', sent);
});
afterEach(() => vi.unstubAllGlobals());

const loaded = new Map([['*1', { '.id': '*1', comment: 'seen' }]]);
const live = { row: (id: string) => loaded.get(id) };
const answers = (...rows: readonly object[]) => sent.mockImplementation(async () => Response.json(rows));
const body = () => JSON.parse(String(sent.mock.calls[0]?.[1].body));

test('rows that are loaded are not asked for', async () => {
  expect(await rowsWith(lists, live, ['*1'], ['comment'])).toEqual([loaded.get('*1')]);
  expect(sent).not.toHaveBeenCalled();
});

test('selected rows that are not loaded are asked for, in the order of the selection, without those that are gone', async () => {
  answers({ '.id': '*2', comment: 'b' }, { '.id': '*3', comment: 'c' });
  const rows = await rowsWith(lists, live, ['*3', '*1', '*9', '*2'], ['comment']);
  expect(rows.map((row) => row.comment)).toEqual(['c', 'seen', 'b']);
  expect(sent.mock.calls[0]?.[0]).toBe('/rest/ip/firewall/address-list/print');
  expect(body()).toEqual({ '.proplist': '.id,comment', '.query': ['.id=*3', '.id=*9', '.id=*2', '#||'] });
});

test('of many rows the whole list is looked through', async () => {
  answers(...Array.from({ length: 300 }, (_, at) => ({ '.id': `*${at}` })));
  const ids = Array.from({ length: 100 }, (_, at) => `*${2 * at}`);
  expect((await rowsWith(lists, { row: () => undefined }, ids, ['name'])).map((row) => row['.id'])).toEqual(ids);
  expect(sent.mock.calls).toEqual([
    ['/rest/ip/firewall/address-list?.proplist=.id%2Cname', expect.objectContaining({ method: 'GET' })],
  ]);
});

test('that the router does not tell is no answer', async () => {
  sent.mockImplementation(async () => Response.json({ error: 500, detail: 'no' }, { status: 500 }));
  await expect(rowsWith(lists, live, ['*2'], ['comment'])).rejects.toThrow('no');
});

test('the comment of rows counts rows that are not loaded', () => {
  const before = commentsOf([{ '.id': '*1', comment: 'old' }, { '.id': '*2', comment: 'seen' }, { '.id': '*3' }]);
  expect(commentNow(live, ['*2'], before)).toBe('seen');
  expect(commentNow(live, ['*3'], before)).toBe('');
  // A loaded row is newer than the answer.
  expect(commentNow(live, ['*1', '*2'], before)).toBe('seen');
  expect(commentNow(live, ['*1', '*3'], before)).toBeUndefined();
  expect(commentNow(live, ['*4'], before)).toBeNull();
});

test('what cannot be removed is known before it is asked about, also where it is not loaded', async () => {
  const [routes, types] = [menuByPath('/ip/route'), menuByPath('/queue/type')];
  if (routes === undefined || types === undefined) throw new Error('menus are missing');
  answers({ '.id': '*2', dynamic: 'true' }, { '.id': '*8', dynamic: 'true' });
  expect(await removalBlockedReason(routes, live, ['*1', '*2', '*3'])).toBe(
    '1 of the 3 selected rows is dynamic and cannot be removed',
  );
  expect(sent.mock.calls[0]?.[0]).toBe('/rest/ip/route/print');
  expect(body()).toEqual({ '.proplist': '.id,dynamic', '.query': ['.id=*2', '.id=*3', '#|'] });
  expect(await removalBlockedReason(routes, live, ['*1', '*3'])).toBeUndefined();

  sent.mockClear();
  expect(await removalBlockedReason(types, live, ['*1', '*2000100'])).toMatch(
    /^1 of the 2 selected rows always exists/,
  );
  // Of so many the router is not asked, which may have a million.
  const many = Array.from({ length: 100 }, (_, at) => `*${at + 1}`);
  expect(await removalBlockedReason(routes, live, many)).toBeUndefined();
  // Everything is loaded, or can be removed whatever made it.
  expect(await removalBlockedReason(routes, live, ['*1'])).toBeUndefined();
  expect(await removalBlockedReason(lists, live, ['*1', '*80000001'])).toBeUndefined();
  expect(sent).not.toHaveBeenCalled();
});
