import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { menuByPath } from '@tollway/schema';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Stats } from '../src/agent/messages.js';
import { SESSION_MS } from '../src/auth/sessions.js';
import { readSamples } from '../src/live/traffic-file.js';
import { Client } from './live-client.js';
import { LONG_WRITES, PASSWORD, Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
});
afterAll(() => router.close());

it('says to a request that is no upgrade what is taken there', async () => {
  const response = await fetch(`${router.url}/live`, {
    headers: { authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}` },
  });
  expect(response.status).toBe(426);
  expect(await response.json()).toEqual({
    error: 426,
    message: 'Upgrade Required',
    detail: 'this address takes WebSockets only',
  });
});

const address = (last: number) => ({ address: `10.1.${last}.1/24`, interface: 'ether1' });

describe('menus', () => {
  it('show one user so many cells at once, on all connections, and more when others are closed', async () => {
    const menu = '/queue/simple';
    const queues = Array.from({ length: 1_000 }, (_, n) => ({ name: `q${n}`, target: `11.0.${n >> 8}.${n & 255}` }));
    const ids = await router.rest('PUT', menu, queues);
    expect(ids.status).toBe(201);
    const columns = Object.keys(menuByPath(menu)?.props ?? {}).length;
    const windows = Math.floor(1_500_000 / (1_000 * columns));
    const left = Math.floor((1_500_000 - windows * 1_000 * columns) / columns);
    const window = { op: 'subscribe', topic: 'menu', menu, count: 1_000, intervalMs: 10_000 };
    const [full, other] = await Promise.all([Client.open(router.url), Client.open(router.url)]);
    for (let id = 0; id < windows; id += 1) {
      full.send({ ...window, id });
      expect((await full.next((m) => m.id === id)).op).toBe('snapshot');
    }
    other.send({ ...window, id: 1, count: left + 1 });
    expect(await other.next((m) => m.id === 1)).toEqual({
      op: 'error',
      id: 1,
      detail: 'at most 1500000 cells, rows by columns, are shown to one user at once; close other windows',
    });
    other.send({ op: 'window', id: 1, count: left });
    expect(await other.next((m) => m.id === 1 && m.op === 'snapshot')).toMatchObject({ first: 0 });
    full.socket.close();
    await vi.waitFor(() => {
      other.send({ op: 'window', id: 1, count: 1_000 });
      return other.next(
        (m) => m.id === 1 && m.op === 'snapshot' && Array.isArray(m.rows) && m.rows.length === 1_000,
        500,
      );
    }, 60_000);
    other.socket.close();
    expect(
      (await router.rest('POST', `${menu}/remove`, { '.id': queues.map(({ name }) => name).join(',') })).status,
    ).toBe(200);
  });

  it('send a snapshot, then what changes, to every browser at once', async () => {
    const [one, two] = await Promise.all([Client.open(router.url), Client.open(router.url)]);
    for (const client of [one, two]) client.send({ op: 'subscribe', id: 7, topic: 'menu', menu: '/ip/address' });
    expect((await one.next((m) => m.id === 7)).op).toBe('snapshot');
    await two.next((m) => m.op === 'snapshot');
    const id = (await router.rest('PUT', '/ip/address', address(1))).id;
    for (const client of [one, two]) {
      const delta = await client.next((m) => m.op === 'delta');
      expect(delta).toMatchObject({
        id: 7,
        total: 1,
        matched: 1,
        order: [id],
        set: [{ '.id': id, address: '10.1.1.1/24' }],
      });
    }
    await router.rest('PATCH', `/ip/address/${id}`, { comment: 'x' });
    expect((await one.next((m) => m.op === 'delta')).set).toEqual([{ '.id': id, comment: 'x' }]);
    await router.rest('PATCH', `/ip/address/${id}`, { comment: '' });
    expect((await one.next((m) => m.op === 'delta')).unset).toEqual({ [id]: ['comment'] });
    await router.rest('DELETE', `/ip/address/${id}`);
    expect(await one.next((m) => m.op === 'delta')).toMatchObject({ remove: [id], order: [], total: 0 });
    one.socket.close();
    two.socket.close();
  });

  it('are sorted, filtered and cut to the window by the server', async () => {
    const ids: string[] = [];
    for (const last of [5, 3, 4]) ids.push((await router.rest('PUT', '/ip/address', address(last))).id);
    const client = await Client.open(router.url);
    const sort = { by: 'address', desc: false };
    client.send({ op: 'subscribe', id: 1, topic: 'menu', menu: '/ip/address', sort, first: 1, count: 1 });
    const first = await client.next((m) => m.op === 'snapshot');
    expect(first).toMatchObject({ total: 3, matched: 3, first: 1, rows: [{ '.id': ids[2] }] });
    client.send({ op: 'window', id: 1, first: 0, find: '10.1.5' });
    expect(await client.next((m) => m.op === 'snapshot')).toMatchObject({
      total: 3,
      matched: 1,
      rows: [{ '.id': ids[0] }],
    });
    client.send({ op: 'window', id: 1, find: null, filter: { address: '10.1.3.1/24' } });
    expect(await client.next((m) => m.op === 'snapshot')).toMatchObject({ matched: 1, rows: [{ '.id': ids[1] }] });
    client.send({ op: 'window', id: 1, filter: { address: { op: 'in', value: '10.1.4.0/23' } } });
    expect(await client.next((m) => m.op === 'snapshot')).toMatchObject({ matched: 2 });
    const last = {
      address: [
        { op: 'in', value: '10.1.4.0/23' },
        { op: 'is-not', value: '10.1.4.1/24' },
      ],
    };
    client.send({ op: 'window', id: 1, filter: { ...last, disabled: false } });
    expect(await client.next((m) => m.op === 'snapshot')).toMatchObject({ matched: 1, rows: [{ '.id': ids[0] }] });
    client.send({ op: 'window', id: 1, filter: { address: { op: 'in', value: 'here' } } });
    expect(await client.next((m) => m.op === 'error')).toMatchObject({
      id: 1,
      condition: { column: 'address', op: 'in', value: 'here' },
    });
    client.send({ op: 'unsubscribe', id: 1 });
    client.send({ op: 'window', id: 1, first: 0 });
    expect(await client.next((m) => m.op === 'error')).toMatchObject({ id: 1 });
    client.socket.close();
    for (const id of ids) await router.rest('DELETE', `/ip/address/${id}`);
  });

  it('shows settings as one row', async () => {
    const client = await Client.open(router.url);
    client.send({ op: 'subscribe', id: 1, topic: 'menu', menu: '/system/identity' });
    expect((await client.next((m) => m.op === 'snapshot')).rows).toEqual([{ '.id': '*0', name: 'Tollway' }]);
    client.socket.close();
  });
});

describe('status and traffic', () => {
  it('arrive by themselves', async () => {
    const client = await Client.open(router.url);
    client.send({ op: 'subscribe', id: 1, topic: 'status' });
    client.send({ op: 'subscribe', id: 2, topic: 'traffic' });
    expect(await client.next((m) => m.op === 'history')).toMatchObject({ id: 2, op: 'history' });
    expect(await client.next((m) => m.op === 'status')).toMatchObject({
      agent: { connected: true },
      identity: 'Tollway',
    });
    expect(await client.next((m) => m.op === 'sample')).toMatchObject({
      id: 2,
      interfaces: {},
      throughput: { bps: 0, pps: 0 },
      queued: { bytes: 0, packets: 0 },
      connections: 0,
    });
    client.socket.close();
  });
});

describe('the history of the graphs', () => {
  const historyOf = async (client: Client) => {
    client.send({ op: 'subscribe', id: 1, topic: 'traffic' });
    const { samples } = await client.next((m) => m.op === 'history');
    return Array.isArray(samples) ? samples.map(({ t }: { t: number }) => t) : [];
  };

  it('holds what was before anybody looked, and what was before a restart', async () => {
    const own = await Router.start();
    try {
      await new Promise((resolve) => setTimeout(resolve, 3_500));
      const first = await Client.open(own.url);
      const before = await historyOf(first);
      expect(before.length).toBeGreaterThanOrEqual(2);
      first.socket.close();
      await own.shut();
      await own.open();
      const second = await Client.open(own.url);
      const after = await historyOf(second);
      expect(after.slice(0, before.length)).toEqual(before);
      expect(after.every((t, at) => at === 0 || t > (after[at - 1] ?? 0))).toBe(true);
      second.socket.close();
    } finally {
      await own.close();
    }
  });

  it('is not taken from a file that holds something else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollway-samples-'));
    const file = join(folder, 'traffic.json');
    expect(await readSamples(file)).toEqual([]);
    for (const text of ['', '{"t":1}', '[1,null,{"t":"x"}]', 'x'.repeat(100)]) {
      await writeFile(file, text);
      expect(await readSamples(file)).toEqual([]);
    }
    await rm(folder, { recursive: true });
  });
});

describe('nobody looks', () => {
  /**
   * Requests of the API to the data plane within `ms`, but for `stats` once a second, which the graphs' history needs;
   * once in 10 s the accounting of queues has its own.
   */
  async function asked(ms: number): Promise<unknown[]> {
    const before = router.peer?.asked.length;
    await new Promise((resolve) => setTimeout(resolve, ms));
    const ops = router.peer?.asked.slice(before).map(({ op }) => op) ?? [];
    const recorded = Math.floor(ms / 1000) + 1;
    for (let count = 0; count < recorded && ops.includes('stats'); count += 1) ops.splice(ops.indexOf('stats'), 1);
    return ops;
  }

  it('and the data plane is asked for one small thing a second; a window that is closed costs nothing', async () => {
    await expect.poll(() => asked(1_500), { timeout: 60_000 }).toEqual([]);
    const menus = ['/ip/firewall/connection', '/queue/simple', '/interface', '/ip/arp'];
    const client = await Client.open(router.url);
    for (const [id, menu] of menus.entries()) client.send({ op: 'subscribe', id, topic: 'menu', menu });
    client.send({ op: 'subscribe', id: 8, topic: 'traffic' });
    client.send({ op: 'subscribe', id: 9, topic: 'profile' });
    client.send({ op: 'subscribe', id: 10, topic: 'status' });
    await expect
      .poll(() => asked(1_500), { timeout: 60_000 })
      .toEqual(expect.arrayContaining(['connections', 'queues', 'neighbors']));
    for (const id of [0, 3, 8, 9, 10]) client.send({ op: 'unsubscribe', id });
    await expect.poll(async () => [...new Set(await asked(1_500))].sort(), { timeout: 60_000 }).toEqual(['queues']);
    client.socket.close();
    await expect.poll(() => asked(1_500), { timeout: 60_000 }).toEqual([]);
  });

  it('the profile tells what workers hand over and what comes out of order, each second and in all', async () => {
    const { peer } = router;
    if (peer === undefined) throw new Error('no peer');
    const started = performance.now();
    /** Counts of a worker that grow by so many a second. */
    const worker = (handovers: number, late: number) => {
      const seconds = (performance.now() - started) / 1000;
      const counts = { 'handover-packets': 7 + seconds * handovers, 'out-of-order-packets': seconds * late };
      return counts as Stats['workers'][number];
    };
    peer.workers = () => [worker(1_000, 300), worker(3_000, 100)];
    peer.cores = () => {
      const cycles = Math.round((performance.now() - started) * 1e6);
      return [{ cpu: 0, cycles, 'idle-cycles': cycles, classes: [] }];
    };
    const client = await Client.open(router.url);
    try {
      client.send({ op: 'subscribe', id: 1, topic: 'profile' });
      const { rows, handovers, outOfOrder } = await client.next((m) => m.op === 'profile', 20_000);
      expect(rows).toEqual(expect.arrayContaining([{ name: 'idle', cpu: '0', usage: expect.any(String) }]));
      expect(Number(handovers) / 4_000).toBeCloseTo(1, 0);
      expect(Number(handovers) / Number(outOfOrder)).toBeCloseTo(10, 0);
      peer.workers = () => [3, 4].map((count) => ({ 'handover-packets': count }) as Stats['workers'][number]);
      expect((await router.rest('GET', '/system/resource')).item['handed-over-packets']).toBe('7');
    } finally {
      client.socket.close();
      peer.workers = () => [];
      peer.cores = () => [];
    }
  });

  it('at a menu that follows from the configuration alone, nothing is asked either', async () => {
    const client = await Client.open(router.url);
    client.send({ op: 'subscribe', id: 1, topic: 'menu', menu: '/ip/address' });
    await client.next((m) => m.op === 'snapshot');
    await expect.poll(() => asked(1_500), { timeout: 60_000 }).toEqual([]);
    client.socket.close();
  });
});

describe('what a client may send', () => {
  it.each([
    ['no JSON', 'no json {'],
    ['no object', '[1]'],
    ['no id', { op: 'subscribe', topic: 'status' }],
    ['unknown operation', { op: 'destroy', id: 1 }],
    ['unknown topic', { op: 'subscribe', id: 1, topic: 'weather' }],
    ['unknown menu', { op: 'subscribe', id: 1, topic: 'menu', menu: '/no/such' }],
    ['wrong window', { op: 'subscribe', id: 1, topic: 'menu', menu: '/log', first: -1 }],
    ['wrong operator', { op: 'subscribe', id: 1, topic: 'menu', menu: '/log', filter: { message: { op: 'like' } } }],
    ['wrong column', { op: 'subscribe', id: 1, topic: 'menu', menu: '/log', filter: { weather: 'fine' } }],
    ['wrong columns', { op: 'subscribe', id: 1, topic: 'menu', menu: '/log', columns: 'message' }],
    ['wrong sort', { op: 'subscribe', id: 1, topic: 'menu', menu: '/log', sort: 'name' }],
  ])('%s is answered, and the connection stays', async (_name, message) => {
    const client = await Client.open(router.url);
    client.send(message);
    expect((await client.next((m) => m.op === 'error')).detail).toMatch(/must|not|no column/);
    client.send({ op: 'subscribe', id: 9, topic: 'menu', menu: '/ip/address' });
    await client.next((m) => m.op === 'snapshot');
    client.socket.close();
  });

  it('a message beyond the size limit closes the connection, not the server', async () => {
    const client = await Client.open(router.url);
    client.send('x'.repeat(100_000));
    await expect.poll(() => client.closed, { timeout: 30_000 }).toBe(1009);
    expect((await router.request('GET', '/healthz')).status).toBe(200);
  });
});

describe('a connection that breaks the protocol', () => {
  it('is closed, and leaves nothing in the log of the API: it may be made any number of times', async () => {
    const logged = vi.spyOn(router.app.log, 'error');
    const client = await Client.open(router.url);
    client.send('x'.repeat(100_000));
    await expect.poll(() => client.closed, { timeout: 30_000 }).toBe(1009);
    expect(logged).not.toHaveBeenCalled();
    logged.mockRestore();
  });
});

describe('who may connect', () => {
  it('nobody without credentials, and no page of another site', async () => {
    await expect(Client.open(router.url, {})).rejects.toThrow('401');
    const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
    await expect(Client.open(router.url, { authorization, origin: 'http://evil.example' })).rejects.toThrow('403');
  });

  it('at most 32 times at once as one user, which no other user notices', async () => {
    await router.rest('PUT', '/user', { name: 'bob', group: 'read', password: 'password of bob' });
    const authorization = `Basic ${Buffer.from('bob:password of bob').toString('base64')}`;
    const clients: Client[] = [];
    for (let n = 0; n < 33; n += 1) clients.push(await Client.open(router.url, { authorization }));
    await expect.poll(() => clients.at(-1)?.closed, { timeout: 30_000 }).toBe(1013);
    expect(clients.filter(({ closed }) => closed !== undefined)).toHaveLength(1);
    const admin = await Client.open(router.url);
    admin.send({ op: 'subscribe', id: 1, topic: 'menu', menu: '/user' });
    await admin.next((m) => m.op === 'snapshot');
    // UserSemaphore is made by one that goes.
    clients[0]?.socket.close();
    await expect.poll(() => clients[0]?.closed, { timeout: 30_000 }).toBeDefined();
    const next = await Client.open(router.url, { authorization });
    next.send({ op: 'subscribe', id: 1, topic: 'menu', menu: '/user' });
    await next.next((m) => m.op === 'snapshot');
    for (const client of [...clients, admin, next]) client.socket.close();
  });

  it('as one user with at most 512 subscriptions, and 32 to queues, whatever connections they are on', async () => {
    await router.rest('PUT', '/user', { name: 'dora', group: 'read', password: 'password of dora' });
    const authorization = `Basic ${Buffer.from('dora:password of dora').toString('base64')}`;
    const clients: Client[] = [];
    for (let n = 0; n < 9; n += 1) clients.push(await Client.open(router.url, { authorization }));
    const [first, ...others] = clients;
    const last = others.at(-1);
    if (first === undefined || last === undefined) throw new Error('no client');
    const queue = { op: 'subscribe', topic: 'token-bucket', menu: '/queue/simple', queue: 'none' };
    for (let id = 0; id < 33; id += 1) first.send({ ...queue, id });
    expect((await first.next((m) => m.id === 32)).detail).toMatch(/^at most 32 token buckets/);
    last.send({ ...queue, id: 1 });
    expect((await last.next((m) => m.id === 1)).detail).toMatch(/^at most 32 token buckets/);
    const address = { op: 'subscribe', topic: 'menu', menu: '/ip/address' };
    for (const client of others.slice(0, 7)) for (let id = 0; id < 64; id += 1) client.send({ ...address, id });
    for (const client of others.slice(0, 7)) await client.next((m) => m.id === 63 && m.op === 'snapshot');
    for (let id = 32; id < 64; id += 1) first.send({ ...address, id });
    await first.next((m) => m.id === 63 && m.op === 'snapshot');
    last.send({ ...address, id: 2 });
    expect((await last.next((m) => m.id === 2)).detail).toMatch(/^at most 512 subscriptions of one user/);
    const admin = await Client.open(router.url);
    admin.send({ ...address, id: 1 });
    expect((await admin.next((m) => m.id === 1)).op).toBe('snapshot');
    // UserSemaphore is made by one that is closed.
    first.send({ op: 'unsubscribe', id: 0 });
    first.send({ ...address, id: 0 });
    expect((await first.next((m) => m.id === 0 && m.op !== 'error')).op).toBe('snapshot');
    first.socket.close();
    await expect.poll(() => first.closed, { timeout: 30_000 }).toBeDefined();
    last.send({ ...queue, id: 3 });
    expect((await last.next((m) => m.id === 3)).detail).toMatch(/^there is no queue none/);
    for (const client of [...clients, admin]) client.socket.close();
  });

  it('without reading, which fills no memory, and ends when pings stay without their answers', {
    timeout: 360_000,
  }, async () => {
    for (let n = 0; n < 400; n += 1) await router.rest('POST', '/log/info', { message: `${n} ${'x'.repeat(1_000)}` });
    const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
    const before = new Set(router.app.websocketServer.clients);
    const clients = await Promise.all(Array.from({ length: 8 }, () => Client.open(router.url, { authorization })));
    const served = [...router.app.websocketServer.clients].filter((socket) => !before.has(socket));
    for (const client of clients) {
      client.socket.pause();
      for (let id = 0; id < 64; id += 1) {
        client.send({ op: 'subscribe', id, topic: 'menu', menu: '/log', count: 1_000 });
      }
    }
    let most = 0;
    const pongs = setInterval(() => {
      for (const { socket } of clients) if (socket.readyState === socket.OPEN) socket.pong();
      most = Math.max(
        most,
        served.reduce((sum, { bufferedAmount }) => sum + bufferedAmount, 0),
      );
    }, 50);
    await vi.waitFor(() => expect(served.every(({ readyState }) => readyState === 3)).toBe(true), {
      timeout: 270_000,
      interval: 100,
    });
    clearInterval(pongs);
    for (const { socket } of clients) socket.terminate();
    expect(most).toBeLessThan(clients.length * (4 << 20));
  });

  it('a session that ends takes its connection along', async () => {
    const login = await router.request('POST', '/api/v1/login', { name: 'admin', password: PASSWORD });
    const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const client = await Client.open(router.url, { cookie, origin: router.url });
    client.send({ op: 'subscribe', id: 1, topic: 'menu', menu: '/user' });
    await client.next((m) => m.op === 'snapshot');
    const logout = await router.request('POST', '/api/v1/logout', undefined, { cookie, 'x-tollway': '1' });
    expect(logout.status).toBe(204);
    await expect.poll(() => client.closed, { timeout: 30_000 }).toBe(4401);
  });

  it('so does one whose user gets another password, and one whose time is over', async () => {
    await router.rest('PUT', '/user', { name: 'carl', group: 'read', password: 'password of it' });
    const enter = async (password: string) => {
      const login = await router.request('POST', '/api/v1/login', { name: 'carl', password });
      const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      return Client.open(router.url, { cookie, origin: router.url });
    };
    const first = await enter('password of it');
    expect((await router.rest('PATCH', '/user/carl', { password: 'another one of it' })).status).toBe(200);
    await expect.poll(() => first.closed, { timeout: 30_000 }).toBe(4401);
    const second = await enter('another one of it');
    const byBasic = await Client.open(router.url);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + SESSION_MS + 1_000 });
    try {
      await vi.waitFor(() => expect(second.closed).toBe(4401), { timeout: 150_000, interval: 100 });
    } finally {
      vi.useRealTimers();
    }
    expect(byBasic.closed).toBeUndefined();
    byBasic.socket.close();
  });
});

describe('a connection by Basic', () => {
  const basic = (name: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
  });

  it('ends when the password changes, and one of another user does not', async () => {
    await router.rest('PUT', '/user', { name: 'ann', group: 'read', password: 'password of it' });
    const ann = await Client.open(router.url, basic('ann', 'password of it'));
    const admin = await Client.open(router.url);
    expect((await router.rest('PATCH', '/user/ann', { password: 'another one of it' })).status).toBe(200);
    await expect.poll(() => ann.closed, { timeout: 30_000 }).toBe(4401);
    admin.send({ op: 'subscribe', id: 1, topic: 'menu', menu: '/user' });
    expect((await admin.next((m) => m.id === 1)).op).toBe('snapshot');
    const again = await Client.open(router.url, basic('ann', 'another one of it'));
    expect((await router.rest('DELETE', '/user/ann')).status).toBe(204);
    await expect.poll(() => again.closed, { timeout: 30_000 }).toBe(4401);
    admin.socket.close();
  });
});
