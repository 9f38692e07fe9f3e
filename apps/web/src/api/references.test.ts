import { menuByPath } from '@tollway/schema';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { nameLoader } from './references.ts';

const kind = menuByPath('/interface/list/member')?.props.list?.kind;

const sent = vi.fn<(path: string) => Promise<Response>>();
beforeEach(() => {
  sent.mockReset();
  vi.stubGlobal('fetch', sent);
});
afterEach(() => vi.unstubAllGlobals());

test('names are asked for each time that they are about to be shown, and once while they are on their way', async () => {
  const taken: (readonly string[])[] = [];
  const load = nameLoader(kind, (names) => taken.push(names));
  sent.mockImplementation(async () => Response.json(['LAN', 'WAN']));
  load();
  load();
  await vi.waitFor(() => expect(taken).toEqual([['LAN', 'WAN']]), 60_000);
  expect(sent).toHaveBeenCalledOnce();
  expect(sent.mock.calls[0]?.[0]).toBe('/api/v1/values?menu=%2Finterface%2Flist&property=name');

  // One was renamed meanwhile.
  sent.mockImplementation(async () => Response.json(['LAN', 'uplinks']));
  load();
  await vi.waitFor(() => expect(taken.at(-1)).toEqual(['LAN', 'uplinks']), 60_000);

  sent.mockImplementation(async () => Response.json({ detail: 'no' }, { status: 400 }));
  load();
  await vi.waitFor(() => expect(sent).toHaveBeenCalledTimes(3), 60_000);
  await new Promise((resolve) => setTimeout(resolve));
  expect(taken).toHaveLength(2);
  // That it failed once keeps none of the next from being asked for.
  sent.mockImplementation(async () => Response.json(['LAN']));
  load();
  await vi.waitFor(() => expect(taken.at(-1)).toEqual(['LAN']), 60_000);
});

test('a kind without references asks for nothing', () => {
  nameLoader(menuByPath('/log')?.props.topics?.kind, () => {})();
  nameLoader(undefined, () => {})();
  expect(sent).not.toHaveBeenCalled();
});
