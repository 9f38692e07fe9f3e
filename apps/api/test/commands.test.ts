import { registry } from '@tollway/schema';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { menuCommands } from '../src/menus/index.js';
import { commandOf } from '../src/rest/commands/run.js';
import { LONG_WRITES, Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
});
afterAll(() => router.close());

const FILTER = '/ip/firewall/filter';
const rule = (comment: string, more: object = {}) => ({ chain: 'forward', action: 'accept', comment, ...more });
const add = async (body: object): Promise<string> => (await router.rest('PUT', FILTER, body)).id;
const order = async (): Promise<string[]> => (await router.rest('GET', FILTER)).rows.map((row) => row.comment ?? '');

beforeEach(async () => {
  const { rows: body } = await router.rest('GET', FILTER);
  const ids = body.map((row) => row['.id']).join(',');
  if (ids !== '') await router.rest('POST', `${FILTER}/remove`, { numbers: ids });
});

describe('order', () => {
  it('place-before inserts, and the reply does not repeat it', async () => {
    const a = await add(rule('a'));
    const { status, body } = await router.rest('PUT', FILTER, rule('b', { 'place-before': a }));
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('place-before');
    expect(await order()).toEqual(['b', 'a']);
  });

  it('move puts the items before the destination in the order listed', async () => {
    const ids = [];
    for (const name of ['a', 'b', 'c', 'd']) ids.push(await add(rule(name)));
    const [a, b, c, d] = ids;
    const moved = await router.rest('POST', `${FILTER}/move`, { numbers: `${d},${b}`, destination: a });
    expect(moved).toMatchObject({ status: 200, body: [] });
    expect(await order()).toEqual(['d', 'b', 'a', 'c']);
    await router.rest('POST', `${FILTER}/move`, { '.id': d });
    expect(await order()).toEqual(['b', 'a', 'c', 'd']);
    const forward = router.peer?.active?.filter.find((chain) => chain.name === 'forward');
    expect(forward?.rules.map(({ row }) => `*${row.toString(16).toUpperCase()}`)).toEqual([b, a, c, d]);
  });

  it('place-after puts new and moved items just below another one', async () => {
    const ids = [];
    for (const name of ['a', 'b', 'c', 'd']) ids.push(await add(rule(name)));
    const [a = '', b = '', c, d] = ids;
    expect((await router.rest('PUT', FILTER, rule('x', { 'place-after': b }))).status).toBe(201);
    expect(await order()).toEqual(['a', 'b', 'x', 'c', 'd']);
    expect((await router.rest('PUT', FILTER, rule('y', { 'place-after': d }))).status).toBe(201);
    expect(await order()).toEqual(['a', 'b', 'x', 'c', 'd', 'y']);
    const move = (numbers: string, after: string | undefined) =>
      router.rest('POST', `${FILTER}/move`, { numbers, 'place-after': after });
    expect((await move(`${d},${a}`, b)).status).toBe(200);
    expect(await order()).toEqual(['b', 'd', 'a', 'x', 'c', 'y']);
    // After an item that moves itself: where that one was.
    expect((await move(`${b},${a}`, b)).status).toBe(200);
    expect(await order()).toEqual(['b', 'a', 'd', 'x', 'c', 'y']);
    expect(await move(a, '*FFFF')).toMatchObject({ status: 400, body: { detail: 'no such item: *FFFF' } });
    const unknown = await router.rest('PUT', FILTER, rule('z', { 'place-after': '*FFFF' }));
    expect(unknown).toMatchObject({ status: 400, body: { property: 'place-after' } });
    const two = await router.rest('POST', `${FILTER}/move`, { numbers: a, destination: b, 'place-after': c });
    expect(two).toMatchObject({ status: 400, body: { property: 'place-after' } });
    expect(await order()).toEqual(['b', 'a', 'd', 'x', 'c', 'y']);
  });

  it('place-before is an argument of add alone', async () => {
    const a = await add(rule('a'));
    const b = await add(rule('b'));
    const patched = await router.rest('PATCH', `${FILTER}/${b}`, { 'place-before': a });
    expect(patched).toMatchObject({ status: 400, body: { detail: 'unknown parameter place-before' } });
    const added = await router.rest('PUT', '/ip/address', {
      address: '10.0.0.1/8',
      interface: 'ether1',
      'place-before': a,
    });
    expect(added).toMatchObject({ status: 400, body: { detail: 'unknown parameter place-before' } });
    const after = await router.rest('PUT', '/ip/address', {
      address: '10.0.0.1/8',
      interface: 'ether1',
      'place-after': a,
    });
    expect(after).toMatchObject({ status: 400, body: { detail: 'unknown parameter place-after' } });
  });

  it('commands refuse arguments that they do not know, and change nothing', async () => {
    const a = await add(rule('a'));
    for (const command of ['move', 'enable', 'disable', 'comment', 'unset', 'remove', 'reset-counters']) {
      expect(await router.rest('POST', `${FILTER}/${command}`, { numbers: a, colour: 'red' })).toMatchObject({
        status: 400,
        body: { detail: 'unknown parameter colour', property: 'colour' },
      });
    }
    expect(await router.rest('POST', `${FILTER}/comment`, { numbers: a })).toMatchObject({
      status: 400,
      body: { property: 'comment' },
    });
    expect((await router.rest('GET', `${FILTER}/${a}`)).body).toMatchObject({ comment: 'a', disabled: 'false' });
  });

  it('print refuses what would choose items if it were known, and takes switches', async () => {
    await add(rule('a'));
    const print = (body: object) => router.rest('POST', `${FILTER}/print`, body);
    for (const wrong of [{ qurey: ['x=1'] }, { numbers: '*1' }, { '.id': '*1' }, { from: '*1' }, { chain: 'input' }]) {
      const [property] = Object.keys(wrong);
      expect(await print(wrong)).toMatchObject({
        status: 400,
        body: { detail: `unknown parameter ${property}`, property },
      });
    }
    expect(await print({ active: 'zz' })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('a switch is empty, true, false, yes or no'), property: 'active' },
    });
    for (const known of [{ active: '' }, { stats: 'detail' }, { detail: '', 'without-paging': true }]) {
      expect((await print(known)).status).toBe(200);
    }
  });

  it('a command whose .id and numbers name different items is refused', async () => {
    const [a, b] = [await add(rule('a')), await add(rule('b'))];
    const refused = { status: 400, body: { property: 'numbers' } };
    expect(await router.rest('POST', `${FILTER}/set`, { '.id': a, numbers: b, comment: 'x' })).toMatchObject(refused);
    expect(await router.rest('PATCH', `${FILTER}/${a}`, { numbers: b, comment: 'x' })).toMatchObject(refused);
    expect(await router.rest('POST', `${FILTER}/remove`, { '.id': a, numbers: `${a},${b}` })).toMatchObject(refused);
    expect((await router.rest('POST', `${FILTER}/set`, { '.id': a, numbers: a, comment: 'x' })).status).toBe(200);
    expect((await router.rest('GET', `${FILTER}/${b}`)).body).toMatchObject({ comment: 'b' });
  });

  it('a change names one item', async () => {
    const [a, b] = [await add(rule('a')), await add(rule('b'))];
    const change = (id: string) => router.rest('PATCH', `${FILTER}/${a}`, { '.id': id, comment: 'changed' });
    expect(await change(b)).toMatchObject({ status: 400, body: { property: '.id' } });
    expect(await order()).toEqual(['a', 'b']);
    expect((await change(a)).status).toBe(200);
    expect(await order()).toEqual(['changed', 'b']);
  });

  it('destination and numbers must exist', async () => {
    const a = await add(rule('a'));
    for (const body of [{ numbers: a, destination: '*FFFF' }, { numbers: '*FFFF' }]) {
      expect(await router.rest('POST', `${FILTER}/move`, body)).toMatchObject({
        status: 400,
        body: { detail: 'no such item: *FFFF' },
      });
    }
  });
});

describe('commands', () => {
  it('add, set, comment, disable, enable, unset and remove by .id or numbers', async () => {
    const { status, item } = await router.rest(
      'POST',
      `${FILTER}/add`,
      rule('a', { protocol: 'tcp', 'dst-port': '80' }),
    );
    expect(status).toBe(200);
    const id = item.ret;
    const show = async () => (await router.rest('GET', `${FILTER}/${id}`)).body;
    expect(await router.rest('POST', `${FILTER}/set`, { '.id': id, 'dst-port': 8080 })).toMatchObject({
      status: 200,
      body: [],
    });
    expect(await show()).toMatchObject({ 'dst-port': '8080' });
    await router.rest('POST', `${FILTER}/comment`, { numbers: id, comment: 'b' });
    await router.rest('POST', `${FILTER}/disable`, { numbers: id });
    expect(await show()).toMatchObject({ comment: 'b', disabled: 'true' });
    await router.rest('POST', `${FILTER}/enable`, { '.id': id });
    await router.rest('POST', `${FILTER}/unset`, { numbers: id, 'value-name': 'dst-port' });
    expect(await show()).toMatchObject({ disabled: 'false' });
    expect(await show()).not.toHaveProperty('dst-port');
    await router.rest('POST', `${FILTER}/remove`, { '.id': id });
    expect((await router.rest('GET', `${FILTER}/${id}`)).status).toBe(404);
  });

  it('act on all of the items named or on none', async () => {
    const a = await add(rule('a'));
    expect((await router.rest('POST', `${FILTER}/disable`, { numbers: `${a},*FFFF` })).status).toBe(400);
    expect((await router.rest('GET', `${FILTER}/${a}`)).item.disabled).toBe('false');
  });

  it('print with .query, .proplist and count-only', async () => {
    await add(rule('a', { protocol: 'tcp' }));
    await add(rule('b', { protocol: 'udp' }));
    await add(rule('c'));
    const print = async (body: object) => (await router.rest('POST', `${FILTER}/print`, body)).body;
    expect(await print({ '.query': ['protocol=tcp', 'protocol=udp', '#|'], '.proplist': ['comment'] })).toEqual([
      { comment: 'a' },
      { comment: 'b' },
    ]);
    expect(await print({ '.query': ['-protocol'], '.proplist': 'comment,chain' })).toEqual([
      { comment: 'c', chain: 'forward' },
    ]);
    expect(await print({ 'count-only': '' })).toEqual({ ret: '3' });
    expect(await print({ stats: '', '.proplist': 'comment' })).toHaveLength(3);
    expect(await print({ 'without-paging': '', detail: 'yes', '.proplist': 'comment' })).toHaveLength(3);
    expect(await print({ '.query': ['protocol=('] })).toEqual([]);
    expect((await router.rest('POST', `${FILTER}/print`, { '.query': ['#x'] })).body).toMatchObject({
      error: 400,
      property: '.query',
    });
  });

  it.each([{ follow: '' }, { follow: true }, { 'follow-only': 'yes' }, { dynamic: '' }])(
    'print refuses what it would not do: %j',
    async (body) => {
      expect(await router.rest('POST', `${FILTER}/print`, body)).toMatchObject({
        status: 400,
        error: { property: Object.keys(body)[0], detail: `unknown parameter ${Object.keys(body)[0]}` },
      });
    },
  );

  it('monitor-traffic takes interfaces under one name, and refuses others beside them', async () => {
    const monitor = (body: object) => router.rest('POST', '/interface/monitor-traffic', { once: '', ...body });
    expect(await monitor({ interface: 'ether1', numbers: 'ether2' })).toMatchObject({
      status: 400,
      error: { property: 'numbers' },
    });
    expect(await monitor({ numbers: 'ether1', '.id': 'ether2' })).toMatchObject({
      status: 400,
      error: { property: '.id' },
    });
  });

  it('of a settings menu', async () => {
    expect(await router.rest('POST', '/system/identity/set', { name: 'r1' })).toMatchObject({ status: 200, body: [] });
    expect((await router.rest('GET', '/system/identity')).body).toEqual({ name: 'r1' });
    expect((await router.rest('POST', '/ip/settings/set', { 'arp-timeout': '00:01:00' })).status).toBe(200);
    expect((await router.rest('GET', '/ip/settings')).item['arp-timeout']).toBe('1m');
    expect(router.peer?.active?.settings['arp-timeout-ms']).toBe(60_000);
    expect((await router.rest('GET', '/ip/settings?.proplist=rp-filter')).body).toEqual({ 'rp-filter': 'no' });
  });

  it('that change nothing make no revision', async () => {
    const a = await add(rule('a'));
    const { rows: before } = await router.request('GET', '/api/v1/revisions', undefined, await basic());
    await router.rest('PATCH', `${FILTER}/${a}`, rule('a'));
    await router.rest('POST', `${FILTER}/move`, { numbers: a });
    const { rows: after } = await router.request('GET', '/api/v1/revisions', undefined, await basic());
    expect(after[0]?.revision).toBe(before[0]?.revision);
    expect(after[0]).toMatchObject({ author: 'admin', summary: `add ${FILTER} forward accept "a" (${a})` });
  });
});

async function basic(): Promise<Record<string, string>> {
  const { PASSWORD } = await import('./router.js');
  return { authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}` };
}

describe('clearing', () => {
  it('!name and the empty text take a matcher away; a comment is cleared by the empty text', async () => {
    const id = await add(rule('a', { protocol: 'tcp', 'dst-port': '80', 'in-interface': 'ether1' }));
    const { body } = await router.rest('PATCH', `${FILTER}/${id}`, {
      '!in-interface': '',
      'dst-port': '',
      '!protocol': '',
      comment: '',
    });
    for (const gone of ['in-interface', 'dst-port', 'protocol', 'comment']) expect(body).not.toHaveProperty(gone);
  });

  it('a value and its removal in one request are refused: which of them is meant is not known', async () => {
    const id = await add(rule('a', { protocol: 'tcp', 'dst-port': '80' }));
    for (const change of [
      { 'dst-port': '81', '!dst-port': '' },
      { '!dst-port': '', 'dst-port': '81' },
    ]) {
      expect(await router.rest('PATCH', `${FILTER}/${id}`, change)).toMatchObject({
        status: 400,
        body: { property: 'dst-port', detail: 'dst-port is given and taken away at once: give one of the two' },
      });
    }
    expect((await router.rest('GET', `${FILTER}/${id}`)).item['dst-port']).toBe('80');
  });

  it('what must be there cannot be cleared', async () => {
    const id = await add(rule('a'));
    for (const change of [{ '!chain': '' }, { chain: '' }]) {
      expect(await router.rest('PATCH', `${FILTER}/${id}`, change)).toMatchObject({
        status: 400,
        body: { property: 'chain' },
      });
    }
  });
});

describe('names', () => {
  it('find interfaces, and a rename is followed by everything that refers to it', async () => {
    const { item: body } = await router.rest('GET', '/interface/ether2');
    expect(body).toMatchObject({ name: 'ether2', 'default-name': 'ether2', type: 'ether' });
    const id = await add(rule('a', { 'in-interface': '!ether2' }));
    const renamed = await router.rest('PATCH', '/interface/ether2', { name: 'uplink' });
    expect(renamed).toMatchObject({ status: 200, body: { name: 'uplink', '.id': body['.id'] } });
    expect((await router.rest('GET', `${FILTER}/${id}`)).body).toMatchObject({
      'in-interface': '!uplink',
      invalid: 'false',
    });
    expect((await router.rest('POST', '/interface/ethernet/set', { numbers: 'uplink', name: 'ether2' })).status).toBe(
      200,
    );
    expect((await router.rest('GET', `${FILTER}/${id}`)).item['in-interface']).toBe('!ether2');
  });

  it('an interface list that is built in can not be changed', async () => {
    expect((await router.rest('GET', '/interface/list/all')).body).toMatchObject({ name: 'all', builtin: 'true' });
    expect(await router.rest('PATCH', '/interface/list/all', { name: 'x' })).toMatchObject({ status: 400 });
    expect(await router.rest('DELETE', '/interface/list/all')).toMatchObject({ status: 400 });
  });
});

describe('rows that cannot work', () => {
  it('are stored with the reason, and heal when it goes', async () => {
    const jump = await add({ chain: 'forward', action: 'jump', 'jump-target': 'web' });
    const broken = (await router.rest('GET', `${FILTER}/${jump}`)).item;
    expect(broken.invalid).toBe('true');
    expect(broken['.about']).toMatch(/web/);
    const target = await add({ chain: 'web', action: 'accept' });
    expect((await router.rest('GET', `${FILTER}/${jump}`)).body).toMatchObject({ invalid: 'false' });
    await router.rest('DELETE', `${FILTER}/${target}`);
    expect((await router.rest('GET', `${FILTER}/${jump}`)).body).toMatchObject({ invalid: 'true' });
  });
});

describe('commands for programs', () => {
  it('are those that the menus declare, and each is there', () => {
    for (const menu of registry) {
      for (const name of menu.commands.keys()) {
        const { run } = commandOf({ services: { commands: menuCommands }, menu }, name);
        expect(run, `${menu.path}/${name}`).toBeTypeOf('function');
      }
    }
  });

  it('/interface/ethernet/monitor tells whether links are up, once or each second', async () => {
    const monitor = (body: object) => router.rest('POST', '/interface/ethernet/monitor', body);
    const once = await monitor({ numbers: 'ether1,ether2,ether1', once: '' });
    expect(once).toMatchObject({ status: 200 });
    expect(once.rows).toEqual([
      { name: 'ether1', status: 'unknown' },
      { name: 'ether2', status: 'unknown' },
    ]);
    expect((await monitor({ '.id': 'ether1', duration: '10ms', '.proplist': 'status' })).rows).toEqual([
      { status: 'unknown', '.section': '0' },
    ]);
    expect((await monitor({ numbers: 'ether9', once: '' })).error).toMatchObject({
      error: 400,
      detail: 'no such item: ether9',
    });
    const tooLong = await monitor({ numbers: 'ether1', duration: '61s' });
    expect(tooLong.error).toMatchObject({
      error: 400,
      property: 'duration',
      detail: expect.stringContaining('longer than a minute'),
    });
    expect((await monitor({ once: '' })).error).toMatchObject({ error: 400, property: 'numbers' });
  });

  it('/interface tells that its items are not dynamic', async () => {
    const { rows } = await router.rest('GET', '/interface?dynamic=no');
    expect(rows.map((row) => row.dynamic)).toEqual(['false', 'false']);
    expect((await router.rest('GET', '/interface?dynamic=yes')).rows).toEqual([]);
  });
});

describe('reset', () => {
  it('gives properties their defaults, or takes them away', async () => {
    const id = await add(rule('a', { protocol: 'tcp', 'dst-port': '80', action: 'drop', disabled: 'yes' }));
    const names = 'action,dst-port,comment,disabled';
    expect(await router.rest('POST', `${FILTER}/reset`, { numbers: id, 'value-name': names })).toMatchObject({
      status: 200,
      body: [],
    });
    const { item } = await router.rest('GET', `${FILTER}/${id}`);
    expect(item).toMatchObject({ action: 'accept', disabled: 'false', protocol: 'tcp' });
    expect(item).not.toHaveProperty('dst-port');
    expect(item).not.toHaveProperty('comment');
    await router.rest('POST', '/system/identity/set', { name: 'r9' });
    expect((await router.rest('POST', '/system/identity/reset', { 'value-name': 'name' })).status).toBe(200);
    expect((await router.rest('GET', '/system/identity')).item.name).not.toBe('r9');
  });

  it('refuses what has no default, and what is not there', async () => {
    const id = await add(rule('a'));
    const reset = async (body: object) => (await router.rest('POST', `${FILTER}/reset`, body)).error;
    expect(await reset({ numbers: id, 'value-name': 'chain' })).toMatchObject({
      error: 400,
      property: 'value-name',
      detail: 'value of value-name: chain has no default',
    });
    expect(await reset({ numbers: id, 'value-name': 'toString' })).toMatchObject({ property: 'toString' });
    expect(await reset({ numbers: id })).toMatchObject({ property: 'value-name' });
    expect(await reset({ numbers: id, 'value-name': 'action,' })).toMatchObject({
      property: 'value-name',
      detail: 'value of value-name: a name is missing after the comma; give names of properties, separated by commas',
    });
    expect(await reset({ 'value-name': 'action' })).toMatchObject({ property: 'numbers' });
  });
});

describe('numbers', () => {
  it('in quotes are decimal, and have no exponents', async () => {
    const route = { 'dst-address': '10.8.0.0/16', gateway: '10.0.0.1' };
    const added = await router.rest('PUT', '/ip/route', { ...route, distance: '010' });
    expect(added.item.distance).toBe('10');
    for (const distance of ['1e1', '0x1F', '1.0', '+5']) {
      expect(await router.rest('PATCH', `/ip/route/${added.id}`, { distance })).toMatchObject({
        status: 400,
        body: { property: 'distance' },
      });
    }
    await router.rest('DELETE', `/ip/route/${added.id}`);
  });
});

describe('a command', () => {
  it('that names items twice means each once; one that names too many is refused', async () => {
    const { id } = await router.rest('PUT', FILTER, { chain: 'forward', action: 'accept' });
    expect((await router.rest('POST', `${FILTER}/comment`, { numbers: `${id},${id}`, comment: 'x' })).status).toBe(200);
    expect((await router.rest('POST', `${FILTER}/remove`, { numbers: [id, id] })).status).toBe(200);
    for (const numbers of ['*1,'.repeat(100_000), Array(100_001).fill('*1')]) {
      expect(await router.rest('POST', `${FILTER}/remove`, { numbers })).toMatchObject({
        status: 400,
        error: { detail: 'value of numbers: it names more than 100000 items; give fewer at once' },
      });
    }
  });
});
