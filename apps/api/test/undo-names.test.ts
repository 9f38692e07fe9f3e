import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FILTER, historyOf, QUEUES, revisionOf } from './history.js';
import { LONG_WRITES, Router } from './router.js';

let router: Router;
const { api, undo, rules, clear } = historyOf(() => router);
beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
});
afterAll(() => router.close());
afterEach(clear);

describe('a change of what others name', () => {
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
});
