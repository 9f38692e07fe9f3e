import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { KEPT_REVISIONS } from '../src/config/revision-storage.js';
import { LONG_WRITES, PASSWORD, Router } from './router.js';

const FILTER = '/ip/firewall/filter';
const QUEUES = '/queue/simple';

let router: Router;
beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
});
afterAll(() => router.close());
afterEach(async () => {
  for (const menu of [FILTER, QUEUES, '/ip/firewall/address-list']) {
    const rows = (await router.rest('GET', `${menu}?dynamic=false`)).rows;
    if (rows.length > 0) await router.rest('POST', `${menu}/remove`, { '.id': rows.map((row) => row['.id']) });
  }
});

const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});
const admin = basic('admin', PASSWORD);
const api = (method: string, path: string, body?: unknown, as: Record<string, string> = admin) =>
  router.request(method, `/api/v1/revisions${path}`, body, as);
const undo = (revision: number, as = admin) => api('POST', `/${revision}/undo`, undefined, as);
const revisionOf = ({ headers }: { headers: Headers }) => Number(headers.get('x-tollway-revision'));
const rules = async () => (await router.rest('GET', FILTER)).rows.filter((row) => row.dynamic === 'false');
const comments = async () => (await rules()).map(({ comment }) => comment).join(' ');

/** Rules with these comments, in this order. */
async function add(...names: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const comment of names) {
    ids.push((await router.rest('PUT', FILTER, { chain: 'forward', action: 'accept', comment })).id);
  }
  return ids;
}

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

  it('of settings, of an item that always exists, and of a name that others follow is undone', async () => {
    const identity = async () => (await router.rest('GET', '/system/identity')).item.name;
    const set = await router.rest('POST', '/system/identity/set', { name: 'edge' });
    await undo(revisionOf(set));
    expect(await identity()).toBe('Tollway');

    const type = await router.rest('PATCH', '/queue/type/default-small', { 'pfifo-limit': '77' });
    expect((await router.rest('GET', '/queue/type/default-small')).item['pfifo-limit']).toBe('77');
    expect((await undo(revisionOf(type))).status).toBe(200);
    expect((await router.rest('GET', '/queue/type/default-small')).item['pfifo-limit']).not.toBe('77');

    await router.rest('PUT', QUEUES, { name: 'top', target: '10.0.0.0/8' });
    await router.rest('PUT', QUEUES, { name: 'below', target: '10.0.0.1', parent: 'top' });
    const renamed = await router.rest('PATCH', `${QUEUES}/top`, { name: 'isp' });
    await undo(revisionOf(renamed));
    const queues = (await router.rest('GET', QUEUES)).rows;
    expect(queues.map(({ name, parent }) => `${name} ${parent}`)).toEqual(['top none', 'below top']);
  });

  it('whose rows have changed since is refused whole, and each row is named', async () => {
    for (const name of ['x', 'y', 'z']) await router.rest('PUT', QUEUES, { name, target: '10.0.0.1' });
    const done = revisionOf(await router.rest('POST', `${QUEUES}/set`, { numbers: 'x,y,z', 'max-limit': '1M/1M' }));
    await router.rest('POST', `${QUEUES}/comment`, { numbers: 'y', comment: 'mine' });
    await router.rest('POST', `${QUEUES}/remove`, { numbers: 'z' });
    const { status, error } = await undo(done);
    expect([status, error.detail]).toEqual([
      400,
      `failure: revision ${done} cannot be undone, nothing was changed: ` +
        `/queue/simple y was changed after revision ${done}; /queue/simple z was removed after revision ${done}`,
    ]);
    expect((await router.rest('GET', `${QUEUES}/x`)).item['max-limit']).toBe('1000000/1000000');
    const line = (await api('GET', '')).rows.find(({ revision }) => Number(revision) === done);
    expect(line?.undo).toBe(`/queue/simple y was changed after revision ${done}, and 1 more`);
  });

  it('is not offered while others use names that would go with it', async () => {
    const put = async (body: object) => revisionOf(await router.rest('PUT', QUEUES, body));
    const reported = async (revision: number) =>
      (await api('GET', '')).rows.find((line) => Number(line.revision) === revision)?.undo;
    const root = await put({ name: 'root', target: '10.0.0.0/8' });
    const c1 = await put({ name: 'c1', target: '10.1.0.0/16', parent: 'root' });
    const c3 = await put({ name: 'c3', target: '10.1.1.0/24', parent: 'c1' });
    const reason = `${QUEUES} c1 is in use by ${QUEUES} c3, which names it since then`;
    expect(await reported(c1)).toBe(reason);
    expect((await undo(c1)).error.detail).toContain(reason);
    expect(await reported(root)).toBe(`${QUEUES} root is in use by ${QUEUES} c1, which names it since then`);
    expect(await reported(c3)).toBe('');

    // What goes along uses nothing then; a row that comes later does, also by a new name.
    const both = revisionOf(
      await router.rest('PUT', QUEUES, [
        { name: 'p', target: '10.2.0.0/16' },
        { name: 'q', target: '10.2.1.0/24', parent: 'p' },
      ]),
    );
    expect(await reported(both)).toBe('');
    const renamed = revisionOf(await router.rest('PATCH', `${QUEUES}/p`, { name: 'isp' }));
    expect(await reported(renamed)).toBe('');
    const late = await put({ name: 'late', target: '10.2.2.0/24', parent: 'isp' });
    expect(await reported(renamed)).toBe(`${QUEUES} isp is in use by ${QUEUES} late, which names it since then`);
    expect((await undo(renamed)).status).toBe(400);
    await undo(late);
    expect(await reported(renamed)).toBe('');
    expect((await undo(renamed)).status).toBe(200);
    await undo(c3);
    expect(await reported(c1)).toBe('');
  });

  it('that gave a mark is undone where whoever names it did so before, and not offered where others do since', async () => {
    const MANGLE = '/ip/firewall/mangle';
    const put = async (menu: string, body: object) => {
      const answer = await router.rest('PUT', menu, body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      return { id: answer.id, revision: revisionOf(answer) };
    };
    const reported = async (revision: number) =>
      (await api('GET', '')).rows.find((line) => Number(line.revision) === revision)?.undo;
    const rule = (mark: object) => ({ chain: 'prerouting', protocol: 'udp', ...mark });
    const voip = rule({ action: 'mark-packet', 'new-packet-mark': 'voip' });
    const tree = await put('/queue/tree', { name: 'voice', parent: 'global', 'packet-mark': 'voip' });
    const simple = await put(QUEUES, { name: 'office', target: '10.0.0.0/8', 'packet-marks': 'bulk,voip' });
    const other = await put('/queue/tree', { name: 'other', parent: 'global' });
    const packet = await put(MANGLE, voip);
    expect(await reported(packet.revision)).toBe('');
    expect((await undo(packet.revision)).status).toBe(200);

    const connection = await put(FILTER, { chain: 'forward', action: 'drop', 'connection-mark': 'slow' });
    const slow = await put(MANGLE, rule({ action: 'mark-connection', 'new-connection-mark': 'slow' }));
    expect([await reported(slow.revision), (await undo(slow.revision)).status]).toEqual(['', 200]);

    // Another mark than before; a comment since does not count, a row that names it since does.
    const again = await put(MANGLE, rule({ action: 'mark-packet', 'new-packet-mark': 'none yet' }));
    const patched = revisionOf(await router.rest('PATCH', `${MANGLE}/${again.id}`, { 'new-packet-mark': 'voip' }));
    await router.rest('PATCH', `/queue/tree/${tree.id}`, { comment: 'phones' });
    expect(await reported(patched)).toBe('');
    const named = await router.rest('PATCH', `/queue/tree/${other.id}`, { 'packet-mark': 'voip' });
    const reason = `${MANGLE} ${again.id} gives packet mark voip, which is in use by /queue/tree other since then`;
    expect(await reported(patched)).toBe(reason);
    const refused = await undo(patched);
    expect([refused.status, refused.error.detail]).toEqual([
      400,
      `failure: revision ${patched} cannot be undone, nothing was changed: ${reason}`,
    ]);
    // By another rule, too, it is no reason.
    const second = await put(MANGLE, voip);
    expect([await reported(patched), await reported(second.revision)]).toEqual(['', '']);
    expect((await undo(second.revision)).status).toBe(200);
    expect((await undo(revisionOf(named))).status).toBe(200);
    expect([await reported(patched), (await undo(patched)).status]).toEqual(['', 200]);
    for (const [menu, { id }] of [
      [MANGLE, again],
      ['/queue/tree', tree],
      ['/queue/tree', other],
      [QUEUES, simple],
      [FILTER, connection],
    ] as const) {
      expect((await router.rest('DELETE', `${menu}/${id}`)).status).toBe(204);
    }
  });

  it('whose rows named what is called otherwise now names it so; of what is gone and another has the name it is refused', async () => {
    const LISTS = '/interface/list';
    const wan = (await router.rest('PUT', LISTS, { name: 'outside' })).id;
    const rule = { chain: 'forward', action: 'drop', 'in-interface-list': 'outside', comment: 'guard' };
    const { id } = await router.rest('PUT', FILTER, rule);
    const removed = await router.rest('DELETE', `${FILTER}/${id}`);
    await router.rest('PATCH', `${LISTS}/${wan}`, { name: 'elsewhere' });
    const other = (await router.rest('PUT', LISTS, { name: 'outside' })).id;
    expect((await undo(revisionOf(removed))).status).toBe(200);
    expect(await rules()).toMatchObject([{ '.id': id, 'in-interface-list': 'elsewhere' }]);
    const again = await router.rest('DELETE', `${FILTER}/${id}`);
    const without = await router.rest('DELETE', `${LISTS}/${wan}`);
    await router.rest('PATCH', `${LISTS}/${other}`, { name: 'elsewhere' });
    const refused = await undo(revisionOf(again));
    expect(refused.status).toBe(400);
    expect(refused.error.detail).toContain(
      'value of in-interface-list: what is called elsewhere now is not what was called so then',
    );
    expect(await rules()).toEqual([]);
    await router.rest('DELETE', `${LISTS}/${other}`);
    expect((await undo(revisionOf(without))).status).toBe(200);
    expect((await undo(revisionOf(again))).status).toBe(200);
    expect(await rules()).toMatchObject([{ '.id': id, 'in-interface-list': 'elsewhere' }]);

    // Two ports that change names between them.
    const [one, two] = (await router.rest('GET', '/interface/ethernet')).rows.map((row) => row['.id']);
    const named = (port: string | undefined, name: string) =>
      router.rest('PATCH', `/interface/ethernet/${port}`, { name });
    const changed = await router.rest('PATCH', `${FILTER}/${id}`, {
      '!in-interface-list': '',
      'in-interface': 'ether1',
    });
    const back = await router.rest('PATCH', `${FILTER}/${id}`, { 'in-interface': 'ether2' });
    expect([changed.status, back.status]).toEqual([200, 200]);
    for (const [port, name] of [
      [one, 'spare'],
      [two, 'ether1'],
      [one, 'ether2'],
    ] as const) {
      expect((await named(port, name)).status).toBe(200);
    }
    // The rule has followed its port, which is called ether1 now, and is as it was left: it goes back to the other one.
    expect(await rules()).toMatchObject([{ 'in-interface': 'ether1' }]);
    expect((await undo(revisionOf(back))).status).toBe(200);
    expect(await rules()).toMatchObject([{ 'in-interface': 'ether2' }]);
    const gone = await router.rest('DELETE', `${FILTER}/${id}`);
    for (const [port, name] of [
      [one, 'spare'],
      [two, 'ether2'],
      [one, 'ether1'],
    ] as const) {
      expect((await named(port, name)).status).toBe(200);
    }
    expect((await undo(revisionOf(gone))).status).toBe(200);
    expect(await rules()).toMatchObject([{ '.id': id, 'in-interface': 'ether1' }]);
    await router.rest('DELETE', `${FILTER}/${id}`);
    await router.rest('POST', `${LISTS}/remove`, { '.id': wan });
  });

  it('whose row names something that has been renamed since is undone, and so is what came before it', async () => {
    const put = async (path: string, body: object) => router.rest('PUT', path, body);
    const reason = async (revision: number) =>
      (await api('GET', '')).rows.find((line) => Number(line.revision) === revision)?.undo;
    await put(QUEUES, { name: 'above', target: '10.7.0.0/16' });
    const added = await put(QUEUES, { name: 'child', target: '10.7.0.1', parent: 'above' });
    const changed = await router.rest('PATCH', `${QUEUES}/child`, { comment: 'changed' });
    const removed = await router.rest('DELETE', `${QUEUES}/child`);
    await router.rest('PATCH', `${QUEUES}/above`, { name: 'over' });
    const child = async () => (await router.rest('GET', `${QUEUES}?.id=${added.id}`)).rows;
    expect((await undo(revisionOf(removed))).status).toBe(200);
    expect(await child()).toMatchObject([{ name: 'child', parent: 'over', comment: 'changed' }]);
    // A child that was there has followed.
    await router.rest('PATCH', `${QUEUES}/over`, { name: 'top' });
    expect(await reason(revisionOf(changed))).toBe('');
    expect((await undo(revisionOf(changed))).status).toBe(200);
    expect(await child()).toMatchObject([{ name: 'child', parent: 'top' }]);
    expect(await reason(revisionOf(added))).toBe('');
    // That somebody has given it another parent is no rename.
    await put(QUEUES, { name: 'other', target: '10.7.0.0/16' });
    const moved = await router.rest('PATCH', `${QUEUES}/child`, { parent: 'other' });
    expect(await reason(revisionOf(added))).toMatch(/was changed after/);
    expect((await undo(revisionOf(added))).status).toBe(400);
    expect((await undo(revisionOf(moved))).status).toBe(200);
    expect((await undo(revisionOf(added))).status).toBe(200);
    expect(await child()).toEqual([]);
    await router.rest('POST', `${QUEUES}/remove`, { numbers: 'top,other' });
  });

  it('whose row names something else since, which has got the name of what it named, is not undone', async () => {
    const LISTS = '/interface/list';
    const [x, y] = [
      (await router.rest('PUT', LISTS, { name: 'x' })).id,
      (await router.rest('PUT', LISTS, { name: 'y' })).id,
    ];
    const { id } = await router.rest('PUT', FILTER, { chain: 'forward', action: 'drop', 'in-interface-list': 'x' });
    const changed = await router.rest('PATCH', `${FILTER}/${id}`, { comment: 'changed' });
    await router.rest('PATCH', `${LISTS}/${x}`, { name: 'z' });
    await router.rest('PATCH', `${LISTS}/${y}`, { name: 'x' });
    const reason = async () =>
      (await api('GET', '')).rows.find((line) => Number(line.revision) === revisionOf(changed))?.undo;
    expect(await reason()).toBe('');
    await router.rest('PATCH', `${FILTER}/${id}`, { 'in-interface-list': 'x' });
    expect(await reason()).toMatch(/was changed after/);
    const refused = await undo(revisionOf(changed));
    expect(refused.status).toBe(400);
    expect(refused.error.detail).toMatch(/was changed after/);
    expect(await rules()).toMatchObject([{ '.id': id, 'in-interface-list': 'x', comment: 'changed' }]);
    await router.rest('DELETE', `${FILTER}/${id}`);
    await router.rest('POST', `${LISTS}/remove`, { '.id': `${x},${y}` });
  });

  it('whose row named two items that have changed names since names both', async () => {
    const LISTS = '/interface/list';
    const [a, b] = [
      (await router.rest('PUT', LISTS, { name: 'a' })).id,
      (await router.rest('PUT', LISTS, { name: 'b' })).id,
    ];
    const { id } = await router.rest('PUT', LISTS, { name: 'both', include: 'a,b' });
    const removed = await router.rest('DELETE', `${LISTS}/${id}`);
    for (const [list, name] of [
      [a, 'c'],
      [b, 'a'],
      [a, 'b'],
    ] as const) {
      await router.rest('PATCH', `${LISTS}/${list}`, { name });
    }
    expect((await undo(revisionOf(removed))).status).toBe(200);
    expect((await router.rest('GET', `${LISTS}/${id}`)).item).toMatchObject({ include: 'b,a' });
    await router.rest('POST', `${LISTS}/remove`, { '.id': `${id},${a},${b}` });
  });

  it('whose queue hung below an interface hangs below it again, though a queue has its name', async () => {
    const TREE = '/queue/tree';
    const [port] = (await router.rest('GET', '/interface/ethernet')).rows;
    const name = port?.name ?? '';
    const rename = (to: string) => router.rest('PATCH', `/interface/ethernet/${port?.['.id']}`, { name: to });
    const { id } = await router.rest('PUT', TREE, { name: 'below', parent: name });
    const removed = await router.rest('DELETE', `${TREE}/${id}`);
    await rename('spare');
    const other = (await router.rest('PUT', TREE, { name, parent: 'global' })).id;
    expect((await undo(revisionOf(removed))).status).toBe(200);
    expect((await router.rest('GET', `${TREE}/${id}`)).item.parent).toBe('spare');
    await router.rest('POST', `${TREE}/remove`, { '.id': `${id},${other}` });
    await rename(name);
  });

  it('of rows that keep what another action or kind asked for is undone', async () => {
    const nat = { chain: 'dstnat', protocol: 'tcp', 'dst-port': '99', disabled: 'yes' };
    const mangle = { chain: 'forward', disabled: 'yes' };
    const cases: readonly [string, Record<string, string>, Record<string, string>, Record<string, string>][] = [
      [
        '/ip/firewall/nat',
        { ...nat, action: 'dst-nat', 'to-addresses': '192.168.88.10', 'to-ports': '8000' },
        { action: 'accept' },
        { comment: 'x' },
      ],
      [
        FILTER,
        { chain: 'input', action: 'reject', 'reject-with': 'icmp-admin-prohibited', disabled: 'yes' },
        { action: 'drop' },
        { comment: 'x' },
      ],
      [
        '/ip/firewall/mangle',
        { ...mangle, action: 'mark-packet', 'new-packet-mark': 'm', passthrough: 'no' },
        { action: 'accept' },
        { comment: 'x' },
      ],
      [
        '/queue/type',
        { name: 'often-changed', kind: 'pcq', 'pcq-rate': '3M', 'pcq-classifier': 'src-address' },
        { kind: 'sfq', '!pcq-classifier': '' },
        { 'sfq-perturb': '9' },
      ],
      [
        '/queue/type',
        { name: 'once-more', kind: 'red', 'red-limit': '77' },
        { kind: 'pfifo' },
        { 'pfifo-limit': '99' },
      ],
    ];
    for (const [menu, first, other, more] of cases) {
      const { id } = await router.rest('PUT', menu, first);
      const changed = await router.rest('PATCH', `${menu}/${id}`, other);
      expect(changed.status).toBe(200);
      const before = (await router.rest('GET', `${menu}/${id}`)).item;
      const again = await router.rest('PATCH', `${menu}/${id}`, more);
      expect((await undo(revisionOf(again))).body).toMatchObject({ revision: revisionOf(again) + 1 });
      expect((await router.rest('GET', `${menu}/${id}`)).item).toEqual(before);
      const removed = await router.rest('DELETE', `${menu}/${id}`);
      expect((await undo(revisionOf(removed))).status).toBe(200);
      expect((await router.rest('GET', `${menu}/${id}`)).item).toEqual(before);
      await router.rest('DELETE', `${menu}/${id}`);
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

async function newestRevision(): Promise<number> {
  return Number((await api('GET', '')).rows[0]?.revision);
}

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
