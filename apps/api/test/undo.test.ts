import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { admin, basic, FILTER, historyOf, QUEUES, revisionOf } from './history.js';
import { LONG_WRITES, Router } from './router.js';

let router: Router;
const { api, undo, rules, comments, add, clear } = historyOf(() => router);
beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
});
afterAll(() => router.close());
afterEach(clear);

describe('a port with a queue of its own', () => {
  it('has its changes reported and undone, whichever menu they were made by', async () => {
    const [port] = (await router.rest('GET', '/queue/interface')).rows;
    const id = port?.['.id'] ?? '';
    const first = await router.rest('PATCH', `/queue/interface/${id}`, { queue: 'default-small' });
    const second = await router.rest('PATCH', `/queue/interface/${id}`, { queue: 'ethernet-default' });
    const { changes } = (await api('GET', `/${revisionOf(second)}`)).body as { changes: unknown };
    expect(changes).toMatchObject([{ action: 'change', text: 'queue default-small → ethernet-default' }]);
    expect((await undo(revisionOf(second))).status).toBe(200);
    const port2 = await router.rest('PATCH', `/interface/ethernet/${id}`, { comment: 'uplink' });
    expect((await undo(revisionOf(port2))).status).toBe(200);
    expect((await router.rest('GET', `/queue/interface/${id}`)).body).toMatchObject({ queue: 'default-small' });
    expect((await undo(revisionOf(first))).status).toBe(200);
    const before = (await router.rest('GET', `/queue/interface/${id}`)).body;
    expect(before).toMatchObject({ queue: 'only-hardware-queue' });
    expect(before).not.toHaveProperty('comment');
    // Writing back what was read changes nothing.
    const again = await router.rest('PATCH', `/queue/interface/${id}`, { queue: 'only-hardware-queue' });
    expect(again.headers.get('x-tollway-revision')).toBeNull();
    await router.rest('PATCH', `/queue/interface/${id}`, { queue: 'default-small' });
    const byName = await router.rest('PATCH', `/queue/interface/${port?.interface}`, { queue: 'ethernet-default' });
    expect([byName.status, byName.item.queue]).toEqual([200, 'ethernet-default']);
    expect((await router.rest('GET', `/queue/interface/${port?.interface}`)).item['.id']).toBe(id);
    const [newest] = (await api('GET', '')).rows;
    expect(newest?.summary).toMatch(/queue default-small → ethernet-default$/);
    const reset = await router.rest('POST', '/queue/interface/reset', { numbers: id, 'value-name': 'queue' });
    expect([reset.status, reset.body]).toEqual([200, []]);
    expect((await router.rest('GET', `/queue/interface/${id}`)).body).toMatchObject({ queue: 'only-hardware-queue' });
  });
});

describe('a change', () => {
  it('is named by its answer, and only by its own', async () => {
    const added = await router.rest('PUT', FILTER, { chain: 'forward', comment: 'a' });
    const [newest] = (await api('GET', '')).rows;
    expect(revisionOf(added)).toBe(Number(newest?.revision));
    const looked = await router.rest('GET', FILTER);
    expect(looked.headers.get('x-tollway-revision')).toBeNull();
    const nothing = await router.rest('PATCH', `${FILTER}/${added.id}`, { comment: 'a' });
    expect(nothing.headers.get('x-tollway-revision')).toBeNull();
    const body = { csv: 'name,target\nx,10.0.0.1' };
    const imported = await router.request('POST', '/api/v1/queues/import', body, admin);
    expect(imported.body).toMatchObject({ revision: revisionOf(imported) });
    const again = await router.request('POST', '/api/v1/queues/import', body, admin);
    expect(again.body).not.toHaveProperty('revision');
  });

  it('that removed rows is undone: ids, places and order, also after others came and ranks were given anew', async () => {
    const [a = '', b = '', c = '', d = ''] = await add('a', 'b', 'c', 'd');
    const before = await rules();
    const removed = await router.rest('POST', `${FILTER}/remove`, { '.id': `${b},${c}` });
    expect(await comments()).toBe('a d');
    // Each of them halves the gap above d, until all ranks of the menu are given anew.
    for (let count = 0; count < 14; count += 1) {
      await router.rest('PUT', FILTER, { chain: 'input', comment: `n${count}`, 'place-before': d });
    }
    await router.rest('POST', `${FILTER}/move`, { numbers: a, destination: '' });
    expect((await undo(revisionOf(removed))).status).toBe(200);
    const now = (await rules()).filter(({ chain }) => chain === 'forward');
    expect(now.map(({ comment }) => comment)).toEqual(['b', 'c', 'd', 'a']);
    // As if they had never gone: the others were put before d.
    const all = (await rules()).map(({ comment }) => comment);
    expect([all.slice(0, 3), all.slice(-3)]).toEqual([
      ['b', 'c', 'n0'],
      ['n13', 'd', 'a'],
    ]);
    for (const row of before) expect(now).toContainEqual(row);
  });

  it('that made room between two rows is about its own row only: what became of the others is no conflict', async () => {
    const [a = '', b = '', c = ''] = await add('a', 'b', 'c');
    const ranks = async () => new Map((await router.db.configRow.findMany()).map(({ id, rank }) => [id, rank]));
    const moved = async () => {
      const before = await ranks();
      const answer = await router.rest('PUT', FILTER, { chain: 'forward', comment: 'n', 'place-before': b });
      const after = await ranks();
      return { answer, others: [...before].filter(([id, rank]) => after.get(id) !== rank).length };
    };
    let last = await moved();
    for (let count = 0; last.others === 0 && count < 20; count += 1) last = await moved();
    expect(last.others).toBeGreaterThan(3);
    const number = revisionOf(last.answer);
    const listed = async () => {
      const list = (await api('GET', '')).body as { revision: number; rows: number; summary: string; undo?: string }[];
      return list.find(({ revision }) => revision === number);
    };
    expect(await listed()).toMatchObject({ rows: 1, summary: expect.not.stringContaining('refer') });
    expect((await api('GET', `/${number}`)).body).toMatchObject({ rows: 1, changes: [{ action: 'add' }] });
    await router.rest('PATCH', `${FILTER}/${a}`, { comment: 'edited' });
    await router.rest('DELETE', `${FILTER}/${c}`);
    const count = (await rules()).length;
    expect((await listed())?.undo).toBe('');
    expect((await undo(number)).status).toBe(200);
    const now = (await rules()).map(({ comment }) => comment);
    expect(now).toHaveLength(count - 1);
    expect([now[0], now.at(-1)]).toEqual(['edited', 'b']);
  });

  it('that removed a row is undone: back to its place among those that stayed, when others were moved since', async () => {
    const [, b = '', c = ''] = await add('a', 'b', 'c', 'd');
    const removed = await router.rest('DELETE', `${FILTER}/${b}`);
    const [first = ''] = (await rules()).map((row) => row['.id']);
    const moved = await router.rest('POST', `${FILTER}/move`, { numbers: c, destination: first });
    expect((await undo(revisionOf(removed))).status).toBe(200);
    expect(await comments()).toBe('c a b d');
    expect((await undo(revisionOf(moved))).status).toBe(200);
    expect(await comments()).toBe('a b c d');
  });

  it('that moved a row beside one that was moved and moved back since is undone: back to where it was', async () => {
    const [, , c = '', , e = '', f = ''] = await add('a', 'b', 'c', 'd', 'e', 'f');
    const first = await router.rest('POST', `${FILTER}/move`, { numbers: e, destination: c });
    const second = await router.rest('POST', `${FILTER}/move`, { numbers: f, destination: c });
    expect(await comments()).toBe('a b e f c d');
    expect((await undo(revisionOf(second))).status).toBe(200);
    expect(await comments()).toBe('a b e c d f');
    expect((await undo(revisionOf(first))).status).toBe(200);
    expect(await comments()).toBe('a b c d e f');
  });

  it('whose removal was undone is not offered once more when the row is gone again, however it went', async () => {
    const entries = '/ip/firewall/address-list';
    const put = (address: string) => router.rest('PUT', entries, { list: 'gone', address });
    const remove = (...numbers: string[]) => router.rest('POST', `${entries}/remove`, { numbers });
    const reported = async (number: number) => {
      const lines = (await api('GET', '')).body as { revision: number; undo?: string }[];
      return lines.find(({ revision }) => revision === number)?.undo;
    };
    const isKept = async (number: number, by: number) => {
      const why = new RegExp(`^${entries} \\*\\w+ was removed again after revision ${by}(, and 1 more)?$`);
      expect(await reported(number)).toMatch(why);
      const refused = await undo(number);
      expect(refused.status).toBe(400);
      expect(refused.error.detail).toContain(`was removed again after revision ${by}`);
    };
    // By undoing its addition.
    const first = await put('10.9.9.1');
    const removed = revisionOf(await remove(first.id));
    const back = revisionOf(await undo(removed));
    expect((await undo(revisionOf(first))).status).toBe(200);
    await isKept(removed, back);
    // What undid the addition, after that was undone.
    const second = await put('10.9.9.2');
    const taken = revisionOf(await undo(revisionOf(second)));
    const again = revisionOf(await undo(taken));
    const last = revisionOf(await remove(second.id));
    await isKept(taken, again);
    // One of two rows, and then both.
    const [third, fourth] = [await put('10.9.9.3'), await put('10.9.9.4')];
    const both = revisionOf(await remove(third.id, fourth.id));
    const bothBack = revisionOf(await undo(both));
    await remove(third.id);
    expect(await reported(both)).toMatch(/, and 1 more$/);
    await remove(fourth.id);
    await isKept(both, bothBack);
    // The removal that counts is offered, and so is one whose return was undone.
    expect(await reported(last)).toBe('');
    const fifth = await put('10.9.9.5');
    const gone = revisionOf(await remove(fifth.id));
    expect((await undo(revisionOf(await undo(gone)))).status).toBe(200);
    expect(await reported(gone)).toBe('');
    expect((await undo(gone)).status).toBe(200);
    expect((await router.rest('GET', `${entries}/${fifth.id}`)).status).toBe(200);
  });

  it('that moved a row past one that is gone is undone when that one is back, and not before', async () => {
    const [a = '', b = ''] = await add('a', 'b');
    const moved = await router.rest('POST', `${FILTER}/move`, { numbers: b, destination: a });
    const removed = await router.rest('DELETE', `${FILTER}/${a}`);
    const nothing = await undo(revisionOf(moved));
    expect(nothing).toMatchObject({ status: 400 });
    expect(nothing.error.detail).toMatch(/cannot be undone now: rows stand as they would without it/);
    expect((await undo(revisionOf(removed))).status).toBe(200);
    expect(await comments()).toBe('b a');
    expect((await undo(revisionOf(moved))).status).toBe(200);
    expect(await comments()).toBe('a b');
  });

  it('after change is undone, newest first: each time all is as it was before', async () => {
    const step = fc.record({
      what: fc.constantFrom('move', 'move', 'remove', 'add', 'change', 'undo'),
      row: fc.nat(7),
      to: fc.nat(8),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), async (steps) => {
        await add('a', 'b', 'c', 'd', 'e', 'f');
        /** Configuration before each revision, oldest first. */
        const past: { revision: number; before: unknown }[] = [];
        for (const { what, row, to } of steps) {
          const before = await rules();
          const ids = before.map((each) => each['.id'] ?? '');
          const numbers = ids[row % Math.max(1, ids.length)] ?? '';
          const destination = ids[to] ?? '';
          const last = past.at(-1);
          if (numbers === '' && what !== 'add') continue;
          const answer =
            what === 'move'
              ? await router.rest('POST', `${FILTER}/move`, { numbers, destination })
              : what === 'remove'
                ? await router.rest('DELETE', `${FILTER}/${numbers}`)
                : what === 'add'
                  ? await router.rest('PUT', FILTER, {
                      chain: 'forward',
                      action: 'accept',
                      comment: 'n',
                      ...(destination && { 'place-before': destination }),
                    })
                  : what === 'change'
                    ? await router.rest('PATCH', `${FILTER}/${numbers}`, { comment: `x${to}` })
                    : last === undefined
                      ? undefined
                      : await undo(last.revision);
          const revision = answer === undefined ? Number.NaN : revisionOf(answer);
          if (what === 'undo') {
            expect(await rules()).toEqual(last?.before ?? before);
            past.pop();
          } else if (revision > 0) past.push({ revision, before });
        }
        for (const { revision, before } of past.toReversed()) {
          expect((await undo(revision)).status).toBe(200);
          expect(await rules()).toEqual(before);
        }
        await router.rest('POST', `${FILTER}/remove`, { '.id': (await rules()).map((row) => row['.id']) });
      }),
      { numRuns: 12 },
    );
  });

  it('of any kind is undone, and its undo is undone again', async () => {
    const [a = '', b = '', c = ''] = await add('a', 'b', 'c');
    const start = await rules();
    const kinds = [
      () => router.rest('POST', `${FILTER}/disable`, { '.id': `${a},${b}` }),
      () => router.rest('POST', `${FILTER}/move`, { numbers: c, destination: a }),
      () => router.rest('POST', `${FILTER}/comment`, { '.id': b, comment: 'new' }),
      () => router.rest('PATCH', `${FILTER}/${a}`, { 'src-address': '10.0.0.0/8', action: 'drop' }),
      () => router.rest('DELETE', `${FILTER}/${b}`),
      () => router.rest('PUT', FILTER, { chain: 'forward', 'place-before': b }),
    ];
    for (const change of kinds) {
      const done = revisionOf(await change());
      const changed = await rules();
      expect(changed).not.toEqual(start);
      const undone = await undo(done);
      expect([undone.status, await rules()]).toEqual([200, start]);
      const redone = await undo(revisionOf(undone));
      expect([redone.status, await rules()]).toEqual([200, changed]);
      await undo(revisionOf(redone));
    }
  });

  it('that only moved a row is not undone when the row was moved again', async () => {
    const [a = '', , c = ''] = await add('a', 'b', 'c');
    const moved = revisionOf(await router.rest('POST', `${FILTER}/move`, { numbers: a, destination: c }));
    await router.rest('POST', `${FILTER}/move`, { numbers: a, destination: '' });
    expect((await undo(moved)).error.detail).toMatch(/ was moved after revision/);
    expect(await comments()).toBe('b c a');
    const lines = (await api('GET', '')).rows;
    expect(lines.find(({ revision }) => Number(revision) === moved)?.undo).toMatch(/ was moved after revision/);
    expect(lines[0]?.undo).toBe('');
  });

  it('that only moved a row is undone whatever the row has held since', async () => {
    const [a = '', , c = ''] = await add('a', 'b', 'c');
    const disabled = revisionOf(await router.rest('PATCH', `${FILTER}/${c}`, { disabled: 'yes' }));
    const moved = revisionOf(await router.rest('POST', `${FILTER}/move`, { numbers: c, destination: a }));
    expect((await undo(disabled)).status).toBe(200);
    await router.rest('PATCH', `${FILTER}/${c}`, { comment: 'later' });
    expect((await undo(moved)).status).toBe(200);
    expect(await comments()).toBe('a b later');
    expect((await router.rest('GET', `${FILTER}/${c}`)).item.disabled).toBe('false');
  });

  it('is undone in its turn while others write', async () => {
    const [busy = ''] = await add('busy');
    await router.rest('PUT', '/user', { name: 'other', group: 'write', password: 'a long secret 77' });
    const other = basic('other', 'a long secret 77');
    let over = false;
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let time = 0; !over; time += 1) {
        const comment = `busy ${writer} ${time}`;
        const { status } = await router.request('PATCH', `/rest${FILTER}/${busy}`, { comment }, other);
        expect(status).toBe(200);
      }
    });
    try {
      for (let time = 0; time < 10; time += 1) {
        const added = await router.rest('PUT', FILTER, { chain: 'forward', comment: 'mine' });
        expect((await undo(revisionOf(added))).status).toBe(200);
      }
    } finally {
      over = true;
      await Promise.all(writers);
    }
    expect(await comments()).toMatch(/^busy \d+ \d+$/);
  });

  it('is not undone while the database has another newest revision', async () => {
    const added = await router.rest('PUT', FILTER, { chain: 'forward', comment: 'a' });
    const foreign = revisionOf(added) + 1;
    await router.db.$executeRaw`
      INSERT INTO "Revision" ("number", "parent", "author", "summary", "rows", "size", "sha256", "diff")
      VALUES (${foreign}, ${foreign - 1}, 'somebody', 'else', 0, 2, '', '[]')`;
    try {
      const refused = await undo(revisionOf(added));
      expect(refused.status).toBe(400);
      expect(refused.error.detail).toMatch(
        `revision ${foreign - 1} cannot be undone now: the newest revision is ${foreign - 1}, and the newest one in the database ${foreign}.`,
      );
      expect(await comments()).toBe('a');
    } finally {
      await router.db.$executeRaw`DELETE FROM "Revision" WHERE "number" = ${foreign}`;
    }
    expect((await undo(revisionOf(added))).status).toBe(200);
    expect(await comments()).toBe('');
  });

  it('of 25,000 rows is undone', async () => {
    const csv = Array.from({ length: 25_000 }, (_, at) => `s${at},10.${at >> 8}.${at & 255}.1`).join('\n');
    const imported = await router.request('POST', '/api/v1/queues/import', { csv: `name,target\n${csv}` }, admin);
    expect(imported.status).toBe(200);
    const ids = (await router.rest('GET', `${QUEUES}?.proplist=.id`)).rows.map((row) => row['.id']);
    const removed = await router.rest('POST', `${QUEUES}/remove`, { '.id': ids });
    expect((await undo(revisionOf(removed))).status).toBe(200);
    expect((await router.rest('GET', `${QUEUES}?.proplist=.id`)).rows.map((row) => row['.id'])).toEqual(ids);
  });
});

// The last: with many cases it pushes everything else out of the history.
it('undoes whatever was done, with rows in their places, and what others did since stays', async () => {
  const pick = (random: number, count: number) => Math.floor(random * count);
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(
          fc.nat(2),
          fc.double({ min: 0, max: 0.999, noNaN: true }),
          fc.double({ min: 0, max: 0.999, noNaN: true }),
        ),
        { minLength: 1, maxLength: 12 },
      ),
      async (steps) => {
        const draftless = await rules();
        expect(draftless).toEqual([]);
        await add('a', 'b', 'c', 'd', 'e');
        const states: (readonly object[])[] = [await rules()];
        const made: number[] = [];
        for (const [kind, from, to] of steps) {
          const ids = (await rules()).map((row) => row['.id'] ?? '');
          const [one = '', other = ''] = [ids[pick(from, ids.length)], ids[pick(to, ids.length)]];
          const answer =
            kind === 0
              ? await router.rest('POST', `${FILTER}/move`, { numbers: one, destination: other })
              : kind === 1 || ids.length === 0
                ? await router.rest('PUT', FILTER, { chain: 'forward', ...(other !== '' && { 'place-before': other }) })
                : await router.rest('DELETE', `${FILTER}/${one}`);
          const revision = revisionOf(answer);
          if (revision === 0) continue;
          made.push(revision);
          states.push(await rules());
        }
        // One after the other, the newest first: each leads to the state before it.
        for (const revision of made.toReversed()) {
          states.pop();
          expect((await undo(revision)).status).toBe(200);
          expect(await rules()).toEqual(states.at(-1));
        }
        await router.rest('POST', `${FILTER}/remove`, { '.id': (await rules()).map((row) => row['.id']) });
      },
    ),
    { numRuns: Math.ceil(0.12 * (fc.readConfigureGlobal()?.numRuns ?? 100)) },
  );
});
