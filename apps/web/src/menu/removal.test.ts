import { menuByPath } from '@tollway/schema';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useToasts } from '../ui/toasts.ts';
import { moveItems, removeItems, runOn } from './actions.ts';
import { clearUndoStack, undoByKey } from './undo.ts';

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
  clearUndoStack();
});

const newest = () => useToasts.getState().toasts.at(-1);
const paths = () => sent.mock.calls.map(([path]) => path);

test('what was removed comes back by its revision, whatever its number, and goes again', async () => {
  const ids = Array.from({ length: 25_000 }, (_, index) => `*${index.toString(16)}`);
  expect(await removeItems(simple, ids)).toBe(true);
  expect(newest()?.text).toBe('Removed 25 000 items from Simple Queues.');
  newest()?.action?.run();
  await vi.advanceTimersByTimeAsync(0);
  expect(newest()).toMatchObject({
    text: 'Undone: Removed 25 000 items from Simple Queues.',
    action: { label: 'Redo' },
  });
  newest()?.action?.run();
  await vi.advanceTimersByTimeAsync(0);
  expect(paths()).toEqual(['/rest/queue/simple/remove', '/api/v1/revisions/41/undo', '/api/v1/revisions/42/undo']);
});

test.each([
  ['/ip/arp', 'ARP List', '1 of them learned, which Undo does not bring back'],
  ['/ip/firewall/address-list', 'Address Lists', '1 of them for good'],
])('what no Undo brings back is reported, and is no part of what was undone: %s', async (path, title, lost) => {
  const menu = menuByPath(path);
  if (menu === undefined) throw new Error('the menu is missing');
  await removeItems(menu, ['*1', '*80000001'], new Set(['*80000001']));
  expect(newest()).toMatchObject({ text: `Removed 2 items from ${title}, ${lost}.`, action: { label: 'Undo' } });
  newest()?.action?.run();
  await vi.advanceTimersByTimeAsync(0);
  expect(newest()?.text).toBe(`Undone: Removed 1 static item from ${title}.`);
  newest()?.action?.run();
  await vi.advanceTimersByTimeAsync(0);
  expect(newest()).toMatchObject({
    text: `Redone: Removed 1 static item from ${title}.`,
    action: { label: 'Undo' },
  });
  newest()?.action?.run();
  await vi.advanceTimersByTimeAsync(0);
  expect(newest()?.text).toBe(`Undone: Removed 1 static item from ${title}.`);

  // Nothing of it is configuration: there is no revision.
  sent.mockImplementationOnce(async () => Response.json([]));
  await removeItems(menu, ['*80000001', '*80000002'], new Set(['*80000001', '*80000002']));
  expect(newest()?.text).toBe(`Removed 2 items from ${title}.`);
  expect(newest()?.action).toBeUndefined();
});

test('moves, enabling and disabling offer it too; only the newest change does so, the others go by Ctrl+Z', async () => {
  await moveItems(simple, { ids: ['*1'], position: { before: '*2' } });
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

test('what is no configuration offers no Undo', async () => {
  sent.mockImplementationOnce(async () => Response.json([]));
  await removeItems(simple, ['*1']);
  expect(newest()?.action).toBeUndefined();
  undoByKey('undo');
  await vi.advanceTimersByTimeAsync(0);
  // An older change must not be undone in its place; the next press undoes that one.
  expect(newest()?.text).toBe('Not undone, as there is no way back from it: Removed 1 item from Simple Queues.');
  undoByKey('undo');
  await vi.advanceTimersByTimeAsync(0);
  expect(newest()?.text).toMatch(/^Nothing was changed here/);
});

const refuse = (status: number, detail: string) => async () =>
  Response.json({ error: status, message: '', detail }, { status });
const lost = async () => {
  throw new TypeError('Failed to fetch');
};
const history = (list: readonly object[]) => async () => Response.json(list);
const key = async (what: 'undo' | 'redo') => {
  undoByKey(what);
  await vi.advanceTimersByTimeAsync(0);
};

/** Disables an item by revision 41, removes another one by 42. */
const changed = async () => {
  await runOn(simple, 'disable', ['*1']);
  await removeItems(simple, ['*2']);
  sent.mockClear();
};

test.each([
  ['no answer', lost, /^Perhaps not undone: Removed 1 item from Simple Queues: no answer came, so it is not known/],
  ['a full disk', refuse(503, 'failure: the disk is full'), /: failure: the disk is full$/],
  ['a name that is taken', refuse(400, 'failure: the name is taken'), /: failure: the name is taken$/],
])('an undo that failed (%s) stays the next one: by Ctrl+Z and by a button that stands', async (_, fails, text) => {
  for (const again of ['key', 'button']) {
    await changed();
    const removal = revision;
    sent.mockImplementationOnce(fails);
    await key('undo');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(newest()).toMatchObject({ kind: 'error', action: { label: 'Try Again' } });
    expect(newest()?.text).toMatch(text);

    sent.mockImplementationOnce(history([{ revision: removal, undo: '' }]));
    if (again === 'key') await key('undo');
    else newest()?.action?.run();
    await vi.advanceTimersByTimeAsync(0);
    const undo = `/api/v1/revisions/${removal}/undo`;
    expect(paths()).toEqual([undo, '/api/v1/revisions', undo]);
    expect(useToasts.getState().toasts.map((toast) => toast.text)).toEqual([
      'Undone: Removed 1 item from Simple Queues.',
    ]);
    await key('undo');
    expect(paths().at(-1)).toBe(`/api/v1/revisions/${removal - 1}/undo`);
  }
});

test('an undo that was done though no answer came is not tried twice, and can be done again', async () => {
  await changed();
  sent.mockImplementationOnce(lost);
  await key('undo');
  // Nothing is tried before it is known.
  sent.mockImplementationOnce(lost);
  await key('undo');
  expect(paths()).toEqual(['/api/v1/revisions/42/undo', '/api/v1/revisions']);
  sent.mockImplementationOnce(history([{ revision: 43 }, { revision: 42, 'undone-by': 43, undo: 'is there again' }]));
  await key('undo');
  expect(newest()).toMatchObject({ text: 'Undone: Removed 1 item from Simple Queues.', action: { label: 'Redo' } });
  expect(paths()).toHaveLength(3);
  await key('redo');
  expect(paths().at(-1)).toBe('/api/v1/revisions/43/undo');
});

test('what the router refuses is offered again, or is skipped when somebody says so', async () => {
  await changed();
  const detail = 'failure: revision 42 cannot be undone, nothing was changed: /queue/simple b was changed';
  sent.mockImplementation(async (path) =>
    path.endsWith('/undo') ? refuse(400, detail)() : Response.json([{ revision: 42, undo: 'b was changed' }]),
  );
  for (let presses = 0; presses < 2; presses += 1) {
    await key('undo');
    expect(newest()).toMatchObject({
      kind: 'error',
      text: `Not undone: Removed 1 item from Simple Queues: ${detail}`,
      instead: { label: 'Skip' },
    });
  }
  expect(paths().filter((path) => path.endsWith('/undo'))).toEqual(Array(2).fill('/api/v1/revisions/42/undo'));
  newest()?.instead?.run();
  expect(newest()?.text).toBe(
    'Skipped: Removed 1 item from Simple Queues. Next to undo: Disabled 1 item in Simple Queues.',
  );
  await key('undo');
  expect(paths().at(-1)).toBe('/api/v1/revisions/41/undo');
});

test('a redo that failed stays the next one too', async () => {
  await changed();
  await key('undo');
  sent.mockImplementationOnce(lost);
  await key('redo');
  expect(newest()?.text).toMatch(/^Perhaps not redone: Removed 1 item/);
  sent.mockImplementationOnce(history([{ revision: 43, undo: '' }]));
  await key('redo');
  expect(paths().slice(-2)).toEqual(['/api/v1/revisions', '/api/v1/revisions/43/undo']);
  expect(newest()?.text).toBe('Redone: Removed 1 item from Simple Queues.');
});

test('a change without an answer may have been made: Ctrl+Z says so before it undoes what is older', async () => {
  await runOn(simple, 'disable', ['*1']);
  sent.mockImplementationOnce(lost);
  expect(await removeItems(simple, ['*2'])).toBe(false);
  expect(newest()?.text).toBe(
    'Remove: No answer came, so it is not known whether this was done: look before you do it again.',
  );
  sent.mockImplementationOnce(lost);
  await moveItems(simple, { ids: ['*1'], position: { before: '*3' } });
  expect(newest()?.text).toMatch(/^Move: No answer came/);
  // A newer change that is known to be made does not hide the doubt.
  await runOn(simple, 'enable', ['*1', '*3']);
  sent.mockClear();
  await key('undo');
  expect(paths()).toEqual(['/api/v1/revisions/42/undo']);
  for (const text of [
    'Not undone, as no answer came and it is not known whether it was done: Move 1 item in Simple Queues. Look for it. Next to undo: Remove 1 item from Simple Queues',
    'Not undone, as no answer came and it is not known whether it was done: Remove 1 item from Simple Queues. Look for it. Next to undo: Disabled 1 item in Simple Queues.',
  ]) {
    await key('undo');
    expect(newest()?.text).toBe(text);
  }
  expect(paths()).toHaveLength(1);
  await key('undo');
  expect(paths().at(-1)).toBe('/api/v1/revisions/41/undo');
});

test('a change that the router refused was not made: Ctrl+Z goes on with what is older', async () => {
  await runOn(simple, 'disable', ['*1']);
  sent.mockImplementationOnce(refuse(400, 'failure: it is in use'));
  await removeItems(simple, ['*2']);
  expect(newest()?.text).toBe('1 item not removed: failure: it is in use');
  await key('undo');
  expect(paths().at(-1)).toBe('/api/v1/revisions/41/undo');
});

test('of many items those are removed that are still there; one alone must be', async () => {
  sent.mockImplementation(async (path) =>
    path.endsWith('/print')
      ? Response.json([{ '.id': '*1' }, { '.id': '*3' }])
      : sent.mock.calls.length === 1
        ? Response.json({ error: 404, message: 'Not Found' }, { status: 404 })
        : Response.json([], { headers: { 'x-tollway-revision': '7' } }),
  );
  expect(await removeItems(simple, ['*1', '*2', '*3'])).toBe(true);
  expect(paths()).toEqual(['/rest/queue/simple/remove', '/rest/queue/simple/print', '/rest/queue/simple/remove']);
  expect(newest()?.text).toBe('Removed 2 items from Simple Queues.');
  sent.mockReset();
  sent.mockImplementation(async () => Response.json({ error: 404, message: 'Not Found' }, { status: 404 }));
  expect(await removeItems(simple, ['*2'])).toBe(false);
  expect(paths()).toEqual(['/rest/queue/simple/remove']);
});
