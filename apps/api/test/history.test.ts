import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { KEPT_REVISIONS } from '../src/config/revision-storage.js';
import { basic, FILTER, historyOf, revisionOf } from './history.js';
import { LONG_WRITES, PASSWORD, Router } from './router.js';

let router: Router;
const { api, undo, rules, add, newestRevision, clear } = historyOf(() => router);
beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
});
afterAll(() => router.close());
afterEach(clear);

describe('the history', () => {
  it('tells who, by what way, what, and what of it was undone', async () => {
    const [a = ''] = await add('a');
    const done = revisionOf(await router.rest('PATCH', `${FILTER}/${a}`, { comment: 'b', action: 'drop' }));
    const undone = revisionOf(await undo(done));
    const [newest, second] = (await api('GET', '')).rows;
    expect(newest).toMatchObject({ revision: undone, author: 'admin', via: 'rest', rows: 1, undoes: done, undo: '' });
    expect(second).toMatchObject({ revision: done, 'undone-by': undone });
    expect((await api('GET', `/${done}`)).body).toMatchObject({
      changes: [{ menu: FILTER, '.id': a, action: 'change', text: 'action accept → drop, comment a → b' }],
    });
    const login = await router.request('POST', '/api/v1/login', { name: 'admin', password: PASSWORD });
    const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    await router.request('PUT', `/rest${FILTER}`, { chain: 'input' }, { cookie, 'x-tollway': '1' });
    expect((await api('GET', '')).rows[0]).toMatchObject({ via: 'web' });
  });

  it('tells of changes where the first change of a settings menu or a built-in item adds nothing', async () => {
    const changesOf = async (revision: number) => (await api('GET', `/${revision}`)).body;
    const made = async (path: string, body: object) => revisionOf(await router.rest('PATCH', path, body));
    for (const [path, body, done, undone] of [
      ['/ip/settings', { 'rp-filter': 'loose' }, 'rp-filter no → loose', 'rp-filter loose → no'],
      ['/system/identity', { name: 'edge' }, 'name Tollway → edge', 'name edge → Tollway'],
    ] as const) {
      const revision = await made(path, body);
      expect(await changesOf(revision)).toMatchObject({ changes: [{ action: 'change', text: done }] });
      expect(await changesOf(revisionOf(await undo(revision)))).toMatchObject({
        changes: [{ action: 'change', text: undone }],
      });
    }
    const [rule] = (await router.rest('GET', '/system/logging')).rows;
    const revision = await made(`/system/logging/${rule?.['.id']}`, { prefix: 'x' });
    expect(await changesOf(revision)).toMatchObject({
      changes: [{ action: 'change', text: expect.stringMatching(/prefix/) }],
    });
    expect(await changesOf(revisionOf(await undo(revision)))).toMatchObject({ changes: [{ action: 'change' }] });
  });

  it('leaves alone what the router did itself, what is not there, and those who may only look', async () => {
    const own = (await api('GET', '')).rows.find(({ author }) => author === 'system');
    expect(own).toMatchObject({ undo: 'the router made it itself' });
    expect((await undo(Number(own?.revision))).error.detail).toMatch(/made it itself/);
    expect((await undo(999_999)).error).toMatchObject({ error: 400, property: 'revision' });
    expect((await api('POST', '/x/undo')).error).toMatchObject({ property: 'revision' });
    expect((await api('POST', '/1/undo', { force: true })).error).toMatchObject({ property: 'force' });
    expect((await api('GET', '/999999')).status).toBe(404);
    await router.rest('PUT', '/user', { name: 'eve', group: 'read', password: 'only looking' });
    const done = revisionOf(await router.rest('PUT', FILTER, { chain: 'forward' }));
    expect((await undo(done, basic('eve', 'only looking'))).status).toBe(403);
    expect((await rules()).length).toBe(1);
  });

  it(`keeps the last ${KEPT_REVISIONS} revisions`, async () => {
    const [a = ''] = await add('a');
    const revision = await newestRevision();
    // As if there had been many: only their numbers matter.
    await router.db.$executeRaw`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
      INSERT INTO "Revision" ("number", "parent", "author", "summary", "rows", "size", "sha256", "diff")
      SELECT 1 - i, -i, 'admin', 'old', 0, 2, '', '[]' FROM n`;
    await router.rest('PATCH', `${FILTER}/${a}`, { comment: 'b' });
    expect(await router.db.revision.count()).toBe(KEPT_REVISIONS);
    expect(await newestRevision()).toBe(revision + 1);
    // Large ones go sooner, the newest one never.
    await router.db.$executeRaw`UPDATE "Revision" SET "size" = 60000000 WHERE "number" >= ${revision}`;
    await router.rest('PATCH', `${FILTER}/${a}`, { comment: 'c' });
    expect((await api('GET', '')).rows.map((row) => row.revision)).toEqual([revision + 2, revision + 1]);
  });
});
