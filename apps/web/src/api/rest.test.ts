import { afterEach, expect, test, vi } from 'vitest';
import { idempotent, RequestError, send, Unanswered } from './rest.ts';
import { undoRevision } from './revisions.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('an answer is waited for as long as was said, and no longer', async () => {
  vi.stubGlobal('fetch', (_path: string, { signal }: RequestInit) => {
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  });
  const error = await send('POST', '/rest/system/identity/set', {}, 20).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RequestError);
  expect(error).toMatchObject({ status: 0 });
});

test('an undo without an answer ends, so that the next one can begin', async () => {
  const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort());
  vi.stubGlobal('fetch', (_path: string, { signal }: RequestInit) => Promise.reject(signal?.reason));
  await expect(undoRevision(7)).rejects.toMatchObject({ status: 0 });
  expect(limit).toHaveBeenCalledWith(30_000);
});

test('without an answer nobody knows whether a change was made; what changes nothing may be sent again', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
  for (const method of ['PUT', 'PATCH', 'POST']) {
    const error = await send(method, '/rest/ip/address', {}).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Unanswered);
    expect(error).toMatchObject({ status: 0, message: /it is not known whether this was done/ });
  }
  for (const sent of [send('GET', '/rest/ip/address'), idempotent(send('POST', '/api/v1/login', {}))]) {
    const error = await sent.catch((reason: unknown) => reason);
    expect(error).not.toBeInstanceOf(Unanswered);
    expect(error).toMatchObject({ status: 0, message: 'No answer from the router. Try again.' });
  }
});

test('an answer that breaks off is reported as such', async () => {
  const broken = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) });
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(broken, { status: 200 })));
  await expect(send('PUT', '/rest/ip/address', {})).rejects.toMatchObject({ status: 0, message: /broke off/ });
});

test('an id of an item that is gone means nothing to people', async () => {
  const refused = (detail: string) => new Response(JSON.stringify({ error: 400, detail }), { status: 400 });
  for (const [detail, message] of [
    ['no such item: *1C', 'the item does not exist any more'],
    ['no such item: bob', 'no such item: bob'],
  ] as const) {
    vi.stubGlobal('fetch', () => Promise.resolve(refused(detail)));
    await expect(send('POST', '/rest/ip/firewall/nat/move', {})).rejects.toMatchObject({ status: 400, message });
  }
});

test('a change after the end of the session says that it was not made', async () => {
  vi.stubGlobal('fetch', () =>
    Promise.resolve(new Response('{"error":401,"message":"Unauthorized"}', { status: 401 })),
  );
  const message = expect.stringContaining('Nothing was changed');
  await expect(send('PATCH', '/rest/ip/address/*1', {})).rejects.toMatchObject({ status: 401, message });
  await expect(send('POST', '/api/v1/login', {})).rejects.toMatchObject({ status: 401, message: 'Unauthorized' });
});
