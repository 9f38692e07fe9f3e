import { menuByPath } from '@tollway/schema';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useToasts } from '../ui/toasts.ts';
import { moveItems, removeItems, runOn } from './actions.ts';
import { forgetOwnChanges, undoByKey } from './undo.ts';

const simple = menuByPath('/queue/simple');
if (simple === undefined) throw new Error('the menu is missing');

const sent = vi.fn<(path: string, options: RequestInit) => Promise<Response>>();
let revision = 0;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', sent);
  sent.mockReset();
  revision = 40;
  sent.mockImplementation(async () => {
    revision += 1;
    return Response.json([], { headers: { 'x-tollway-revision': String(revision) } });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  useToasts.setState({ toasts: [] });
  forgetOwnChanges();
});

const newest = () => useToasts.getState().toasts.at(-1);
const paths = () => sent.mock.calls.map(([path]) => path);

test('what was removed comes back by its revision, whatever its number, and goes again', async () => {
  const ids = Array.from({ length: 25_000 }, (_, index) => `*${index.toString(16)}`);
  expect(await removeItems(simple, ids)).toBe(true);
  expect(newest()?.text).toBe('Removed 25000 items from Simple Queues.');
  newest()?.action?.run();
  await vi.advanceTimersByTimeAsync(0);
  expect(newest()).toMatchObject({
    text: 'Undone: Removed 25000 items from Simple Queues.',
    action: { label: 'Redo' },
  });
  newest()?.action?.run();
  await vi.advanceTimersByTimeAsync(0);
  expect(paths()).toEqual(['/rest/queue/simple/remove', '/api/v1/revisions/41/undo', '/api/v1/revisions/42/undo']);
});

test('moves, enabling and disabling offer it too; only the newest change does so, the others go by Ctrl+Z', async () => {
  await moveItems(simple, { ids: ['*1'], destination: '*2' });
  await runOn(simple, 'disable', ['*1', '*2']);
  expect(useToasts.getState().toasts.map(({ text, action }) => [text, action?.label])).toEqual([
    ['Disabled 2 items in Simple Queues.', 'Undo'],
  ]);
  undoByKey('undo');
  undoByKey('undo');
  await vi.advanceTimersByTimeAsync(0);
  undoByKey('undo');
  await vi.advanceTimersByTimeAsync(0);
  expect(newest()?.text).toMatch(/^Nothing is left to undo/);
  undoByKey('redo');
  await vi.advanceTimersByTimeAsync(0);
  expect(paths().slice(2)).toEqual([42, 41, 44].map((number) => `/api/v1/revisions/${number}/undo`));
});

test('what is no configuration offers no Undo; what cannot be taken back says why and is in nobody’s way', async () => {
  sent.mockImplementationOnce(async () => Response.json([]));
  await removeItems(simple, ['*1']);
  expect(newest()?.action).toBeUndefined();
  undoByKey('undo');
  await vi.advanceTimersByTimeAsync(0);
  expect(newest()?.text).toMatch(/^Nothing was changed here/);

  await runOn(simple, 'disable', ['*1']);
  await runOn(simple, 'disable', ['*2']);
  const detail = 'failure: revision 42 cannot be undone, nothing was changed: /queue/simple b was changed';
  sent.mockImplementationOnce(async () => Response.json({ error: 400, message: '', detail }, { status: 400 }));
  undoByKey('undo');
  await vi.advanceTimersByTimeAsync(0);
  expect(newest()).toMatchObject({ kind: 'error', text: `Undo: ${detail}` });
  undoByKey('undo');
  await vi.advanceTimersByTimeAsync(0);
  expect(paths().at(-1)).toBe('/api/v1/revisions/41/undo');
});
