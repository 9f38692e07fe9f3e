import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

const put = (path: string, body: unknown) => router.rest('PUT', path, body);
const revision = async (): Promise<{ number: number; summary: string }> => {
  const found = await router.db.revision.findFirst({ orderBy: { number: 'desc' } });
  return { number: found?.number ?? 0, summary: found?.summary ?? '' };
};
const count = async (path: string) =>
  Number((await router.rest('POST', `${path}/print`, { 'count-only': '' })).item.ret);

describe('a list in one request', () => {
  it('adds all of its items in order, as one revision', async () => {
    const before = await revision();
    const queues = Array.from({ length: 2_000 }, (_, n) => ({
      target: `10.${n >> 8}.${n & 255}.1`,
      'max-limit': `${n + 1}k/2M`,
    }));
    const { status, rows: body } = await put('/queue/simple', queues);
    expect(status).toBe(201);
    expect(body).toHaveLength(queues.length);
    expect(body[0]).toMatchObject({ name: 'queue1', target: '10.0.0.1/32', 'max-limit': '1000/2000000' });
    expect(body[1_999]).toMatchObject({ name: 'queue2000', target: '10.7.207.1/32' });
    expect((await router.rest('GET', '/queue/simple')).body).toEqual(body);
    expect(router.peer?.active?.['simple-queues']).toHaveLength(queues.length);
    const after = await revision();
    expect(after.number).toBe(before.number + 1);
    expect(after.summary).toMatch(/^add \/queue\/simple \S+ \(\*.*; 1995 more$/);
  });

  it('is changed and removed as one revision too', async () => {
    const ids = (await router.rest('GET', '/queue/simple')).rows.map((row) => row['.id']);
    const before = await revision();
    for (const [command, more] of [
      ['disable', {}],
      ['enable', {}],
      ['set', { 'max-limit': '7M' }],
      ['comment', { comment: 'all' }],
    ] as const) {
      expect((await router.rest('POST', `/queue/simple/${command}`, { '.id': ids, ...more })).status).toBe(200);
    }
    const limits = (router.peer?.active?.['simple-queues'] ?? []).map(({ upload }) => upload['max-limit']);
    expect(limits).toEqual(ids.map(() => 7_000_000));
    expect((await router.rest('POST', '/queue/simple/remove', { '.id': ids.join(',') })).status).toBe(200);
    expect((await revision()).number).toBe(before.number + 5);
    expect(await count('/queue/simple')).toBe(0);
  });

  it('changes each item in its own way, as one revision', async () => {
    const [a, b] = (await put('/queue/simple', [{ target: '10.0.0.1' }, { target: '10.0.0.2' }])).rows;
    const before = await revision();
    const patch = (...changes: object[]) => router.rest('PATCH', '/queue/simple', changes);
    const { status, rows: changed } = await patch(
      { '.id': b?.['.id'], name: 'up' },
      { '.id': a?.['.id'], parent: 'up', 'max-limit': '1M/1M' },
    );
    expect(status).toBe(200);
    expect(changed).toMatchObject([{ name: 'up' }, { name: 'queue1', parent: 'up', 'max-limit': '1000000/1000000' }]);
    expect((await revision()).number).toBe(before.number + 1);

    const wrong = await patch({ '.id': a?.['.id'], parent: 'none' }, { '.id': b?.['.id'], parent: 'gone' });
    expect(wrong.status).toBe(400);
    expect(wrong.error.detail).toMatch(/^element 1: .*value of parent: gone/);
    expect((await patch({ parent: 'none' })).error.detail).toMatch(/^element 0: missing .*\.id/);
    expect((await patch({ '.id': '*FFFF', parent: 'none' })).error.detail).toMatch(/^element 0: no such item/);
    expect((await router.rest('GET', '/queue/simple')).rows[0]).toMatchObject({ parent: 'up' });
    const twice = await patch({ '.id': a?.['.id'], comment: 'one' }, { '.id': a?.['.id'], comment: 'two' });
    expect(twice).toMatchObject({ status: 400, error: { property: '.id' } });
    expect(twice.error.detail).toBe(`element 1: value of .id: an element before this one names ${a?.['.id']} too`);
    expect((await router.rest('GET', `/queue/simple/${a?.['.id']}`)).item.comment).toBeUndefined();
    expect((await router.rest('PATCH', '/user', [{ '.id': '*1' }])).status).toBe(400);
    for (const row of [a, b]) await router.rest('DELETE', `/queue/simple/${row?.['.id']}`);
  });

  it('takes each element’s place-before', async () => {
    const [drop] = (await put('/ip/firewall/filter', [{ chain: 'forward', action: 'drop', comment: 'drop' }])).rows;
    const rules = ['a', 'b'].map((comment) => ({ chain: 'forward', comment, 'place-before': drop?.['.id'] }));
    expect((await put('/ip/firewall/filter', rules)).rows.map((row) => row.comment)).toEqual(['a', 'b']);
    const order = (await router.rest('GET', '/ip/firewall/filter')).rows.map((row) => row.comment);
    expect(order).toEqual(['a', 'b', 'drop']);
    // By name, also of one that the list itself adds.
    const target = '10.0.0.1';
    const queues = await put('/queue/simple', [
      { name: 'floor', target },
      { name: 'desk', target, parent: 'floor', 'place-before': 'floor' },
    ]);
    expect(queues.status).toBe(201);
    const names = (await router.rest('GET', '/queue/simple')).rows.map((row) => row.name);
    expect(names).toEqual(['desk', 'floor']);
    expect((await router.rest('POST', '/queue/simple/remove', { numbers: 'desk,floor' })).status).toBe(200);
  });

  it('may refer to what it adds itself, and repeats nothing', async () => {
    const entry = { list: 'bad', address: '10.0.0.1' };
    const twice = await put('/ip/firewall/address-list', [entry, { ...entry, address: '10.0.0.2' }, entry]);
    expect(twice.status).toBe(400);
    expect(twice.body).toMatchObject({ property: 'address' });
    expect(twice.error.detail).toMatch(/^element 2: failure: already have such entry: 10.0.0.1 in bad/);
    expect(await count('/ip/firewall/address-list')).toBe(0);
  });

  it.each([
    [
      'a wrong value',
      [{ target: '10.0.0.1' }, { target: '10.0.0.300' }],
      'target',
      /^element 1: value of target: 10.0.0.300 is not/,
    ],
    ['no object', [{ target: '10.0.0.1' }, 7], undefined, /^element 1: it must be a JSON object/],
  ])('with %s adds nothing', async (_what, body, property, detail) => {
    const before = await revision();
    const answer = await put('/queue/simple', body);
    expect(answer.status).toBe(400);
    expect(answer.error.property).toBe(property);
    expect(answer.error.detail).toMatch(detail);
    expect(await count('/queue/simple')).toBe(0);
    expect(await revision()).toEqual(before);
  });

  it('that the data plane refuses names the element', async () => {
    if (router.peer === undefined) throw new Error('no peer');
    router.peer.refuse = ({ 'simple-queues': queues }) => ({ message: 'no room', row: queues?.[1]?.row ?? 0 });
    const answer = await put('/queue/simple', [{ target: '10.0.0.1' }, { target: '10.0.0.2' }, { target: '10.0.0.3' }]);
    router.peer.refuse = undefined;
    expect(answer.status).toBe(400);
    expect(answer.error.detail).toMatch(/^element 1: failure: new item \*[0-9A-F]+: no room$/);
    expect(await count('/queue/simple')).toBe(0);
  });

  it('that is empty is refused', async () => {
    expect(await put('/queue/simple', [])).toMatchObject({ status: 400, body: { message: 'Bad Request' } });
  });

  it('is refused where items are no configuration', async () => {
    expect((await put('/user', [{ name: 'x', password: 'correct horse', group: 'read' }])).status).toBe(400);
  });
});
