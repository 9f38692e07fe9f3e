import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Client } from './live-client.js';
import { rawRequest, upgradeRequest } from './raw-request.js';
import { PASSWORD, Router } from './router.js';

/** True in a soak: as many sockets as somebody with one machine has, and the router's own limits. */
const soak = process.env.TOLLWAY_SOAK !== undefined;
const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;

let router: Router;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await router.close();
});

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function eventually(condition: () => boolean | Promise<boolean>, ms = 30_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('did not happen in time');
    await wait(20);
  }
}

/** A connection that sends `text` and then nothing. It may be closed at any time. */
function hostile(text: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const { port } = new URL(router.url);
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
    sockets.add(socket);
    socket.on('error', () => resolve(socket));
    socket.once('connect', () => {
      if (text !== '') socket.write(text);
      resolve(socket);
    });
    socket.once('close', () => sockets.delete(socket));
    socket.resume();
  });
}

const closed = (socket: Socket) => eventually(() => socket.destroyed || socket.closed);

describe('hostile connections', () => {
  const count = soak ? 20_000 : 2_000;
  const limits = soak ? {} : { total: 100, reserved: 10, perAddress: 40 };
  const kinds: [string, string][] = [
    ['that say nothing', ''],
    ['that never end their headers', 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: '],
    [
      'that never end their body',
      'POST /api/v1/login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n{',
    ],
  ];
  it.each(kinds)(
    `${count} ${'%s'} do not keep out who may come in`,
    async (_what, text) => {
      router = await Router.start({ connectionLimits: limits });
      let worst = 0;
      const visit = async () => {
        const started = Date.now();
        expect((await rawRequest(`${router.url}/rest/system/identity`, 'GET', { authorization })).status).toBe(200);
        worst = Math.max(worst, Date.now() - started);
      };
      for (let n = 0; n < count; n += 100) {
        // From the router's own machine, and from many addresses.
        const batch = Array.from({ length: 100 }, (_, k) =>
          hostile(text, k % 2 === 0 ? '127.0.0.1' : `127.${1 + (n >> 8)}.${n & 255}.${1 + k}`),
        );
        await Promise.all(batch);
        await visit();
      }
      expect(worst).toBeLessThan(5_000);
      expect(await connections()).toBeLessThanOrEqual(soak ? 864 : 110);
      const login = await router.request('POST', '/api/v1/login', { name: 'admin', password: PASSWORD });
      expect(login.status).toBe(200);
    },
    600_000,
  );

  it.each(kinds)('%s, one of each address, end none that somebody else is about to use', async (_what, text) => {
    router = await Router.start({ connectionLimits: { total: 60, reserved: 5 } });
    const request = `GET /rest/system/identity HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n\r\n`;
    const answer = async (socket: Socket) => {
      const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
      socket.once('close', () => socket.emit('data', 'closed'));
      socket.write(request);
      return (await answered).split('\r\n', 1)[0];
    };
    let number = 0;
    const fill = async (count: number) => {
      for (let n = 0; n < count; n += 1, number += 1) await hostile(text, `127.9.${number >> 6}.${1 + (number & 63)}`);
    };
    await fill(60);
    // Of an address from which somebody is logged in: they may wait for long.
    expect(await answer(await hostile(''))).toBe('HTTP/1.1 200 OK');
    const known = await Promise.all(Array.from({ length: 6 }, () => hostile('')));
    await wait(1_500);
    await fill(100);
    // As a browser opens them, of an address that nobody knows.
    const unknown = await Promise.all(Array.from({ length: 6 }, () => hostile('', '127.8.0.1')));
    await fill(20);
    for (const socket of [...unknown, ...known]) expect(await answer(socket)).toBe('HTTP/1.1 200 OK');
  });

  it('do not close those of somebody who is logged in', async () => {
    router = await Router.start({ connectionLimits: { total: 20, reserved: 5, perAddress: 10 } });
    const { port } = new URL(router.url);
    const own = connect(Number(port), '127.0.0.1');
    sockets.add(own);
    let received = '';
    own.on('data', (chunk) => {
      received += chunk.toString();
    });
    const ask = () =>
      own.write(`GET /rest/system/identity HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n\r\n`);
    ask();
    await eventually(() => received.includes('Tollway'));
    for (let n = 0; n < 50; n += 1) await hostile('');
    received = '';
    ask();
    await eventually(() => received.includes('Tollway'));
  });
});

describe('connections of somebody who is logged in', () => {
  it('refuse no other of that address: behind a proxy all have one', async () => {
    router = await Router.start({ connectionLimits: { perAddress: 10 } });
    const request = `GET /rest/system/identity HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n\r\n`;
    for (let n = 0; n < 15; n += 1) {
      const socket = await hostile('');
      const answered = new Promise((resolve) => socket.once('data', resolve));
      socket.write(request);
      await answered;
    }
    expect((await rawRequest(`${router.url}/healthz`, 'GET', {})).status).toBe(200);
  });

  it('are closed for another only while they wait for nothing, and live ones never', async () => {
    router = await Router.start({ connectionLimits: { perAddress: 3 } });
    const live = await Client.open(router.url);
    const monitor = rawRequest(
      `${router.url}/rest/interface/monitor-traffic`,
      'POST',
      { authorization, 'content-type': 'application/json' },
      '{"interface":"ether1","duration":"2s"}',
    );
    await eventually(async () => (await connections()) >= 2);
    for (let n = 0; n < 10; n += 1) await rawRequest(`${router.url}/rest/system/identity`, 'GET', { authorization });
    expect((await monitor).status).toBe(200);
    expect(live.closed).toBeUndefined();
    live.socket.close();
  });
});

describe('many connections of one user', () => {
  const read = `Basic ${Buffer.from(`reader:${PASSWORD}`).toString('base64')}`;

  it.each([
    ['of one address', { perAddress: 40, perUser: 10 }],
    ['in all', { total: 40, reserved: 0, perUser: 10 }],
  ])('do not keep out others %s', async (_where, limits) => {
    router = await Router.start({ connectionLimits: limits });
    const added = await router.rest('PUT', '/user', { name: 'reader', password: PASSWORD, group: 'read' });
    expect(added.status).toBe(201);
    // Again and again: a connection of the harness makes room for the first visit.
    for (let visit = 0; visit < 3; visit += 1) {
      for (let n = 0; n < 60; n += 1) await hostile(upgradeRequest(read));
      // Until all of them have logged in.
      await wait(300);
      expect((await rawRequest(`${router.url}/rest/system/identity`, 'GET', { authorization })).status).toBe(200);
    }
  });

  it('are ended when there are too many live ones, also if their client does not answer', async () => {
    router = await Router.start();
    for (let n = 0; n < 60; n += 1) await hostile(upgradeRequest(authorization));
    await eventually(async () => (await connections()) <= 34, 10_000);
  });

  it('may come by a trusted proxy, beyond what an address may have', async () => {
    router = await Router.start({ connectionLimits: { perAddress: 10 }, trustedProxies: ['127.0.0.50'] });
    const request = `GET /rest/system/identity HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n\r\n`;
    const opened: Socket[] = [];
    for (let n = 0; n < 30; n += 1) {
      const socket = await hostile('', '127.0.0.50');
      const answered = new Promise((resolve) => socket.once('data', resolve));
      socket.write(request);
      await answered;
      opened.push(socket);
    }
    expect(opened.filter(({ destroyed }) => destroyed)).toEqual([]);
  });
});

const connections = () =>
  new Promise<number>((resolve, reject) =>
    router.app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

describe('time', () => {
  it('is short for headers, bodies before login, and connections that say nothing', async () => {
    router = await Router.start({ connectionLimits: { headersMs: 500, requestMs: 1_500, idleMs: 500 } });
    const silent = await hostile('');
    const slowHeaders = await hostile('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx');
    const slowBody = await hostile(
      `PUT /rest/user HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: 400\r\n\r\n{`,
    );
    const idle = await hostile('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    // A byte now and then makes none of them last longer.
    const drip = setInterval(() => slowHeaders.writable && slowHeaders.write('x'), 100);
    try {
      for (const socket of [silent, slowHeaders, slowBody, idle]) await closed(socket);
    } finally {
      clearInterval(drip);
    }
    expect((await router.rest('GET', '/system/identity')).status).toBe(200);
  });

  it('is shorter for a body before login than for one of a user', async () => {
    router = await Router.start({ connectionLimits: { publicBodyMs: 500 } });
    const begun = 'content-type: application/json\r\ncontent-length: 400\r\n\r\n{';
    const own = await hostile(
      `PUT /rest/user HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n${begun}`,
    );
    const before = await hostile(`POST /api/v1/login HTTP/1.1\r\nhost: 127.0.0.1\r\n${begun}`);
    let text = '';
    before.on('data', (chunk) => {
      text += String(chunk);
    });
    // A byte now and then makes it no longer.
    const drip = setInterval(() => before.writable && before.write(' '), 100);
    try {
      await eventually(() => before.destroyed || before.closed, 8_000);
    } finally {
      clearInterval(drip);
    }
    expect(text).toMatch(/^HTTP\/1\.1 408 .*the body did not come within 0\.5 s/s);
    expect(own.destroyed || own.closed).toBe(false);
  });

  it('is up for a reader that does not read', async () => {
    const web = await mkdtemp(join(tmpdir(), 'tollway-web-'));
    try {
      // More than the kernel keeps for both sides.
      await writeFile(join(web, 'index.html'), 'x'.repeat(32 << 20));
      router = await Router.start({ webRoot: web, connectionLimits: { stalledMs: 1_000 } });
      const ended = new Promise((resolve) =>
        router.app.server.on('connection', (socket: Socket) => socket.once('close', resolve)),
      );
      const reader = connect(Number(new URL(router.url).port), '127.0.0.1');
      sockets.add(reader);
      reader.on('error', () => undefined);
      reader.pause();
      reader.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
      const first = await Promise.race([ended.then(() => 'ended'), wait(500).then(() => 'still open')]);
      expect(first).toBe('still open');
      await Promise.race([ended, wait(30_000).then(() => Promise.reject(new Error('it never ended')))]);
    } finally {
      await rm(web, { recursive: true, force: true });
    }
  });

  it('is not up for an answer that takes long', async () => {
    router = await Router.start({ connectionLimits: { stalledMs: 500 } });
    const started = Date.now();
    const monitor = await router.rest('POST', '/interface/monitor-traffic', { interface: 'ether1', duration: '3s' });
    expect(monitor.status).toBe(200);
    expect(Date.now() - started).toBeGreaterThan(2_000);
  });
});

describe('pipelined requests', () => {
  /** Files that this process has open below a folder. */
  const openFiles = async (folder: string) => {
    const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
    return (await Promise.all(links)).filter((path) => path.includes(folder)).length;
  };

  it('of files leave none open when their reader goes away', async () => {
    const web = await mkdtemp(join(tmpdir(), 'tollway-web-'));
    try {
      await writeFile(join(web, 'index.html'), 'x'.repeat(1 << 20));
      router = await Router.start({ webRoot: web });
      for (const [path, folder] of [
        ['/', web],
        ['/docs/static/swagger-ui-bundle.js', 'swagger-ui'],
      ] as const) {
        for (let n = 0; n < 10; n += 1) {
          const socket = connect(Number(new URL(router.url).port), '127.0.0.1');
          socket.on('error', () => undefined);
          socket.pause();
          // As many as a connection may have waiting: with more it would be closed before the first answer began.
          socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n\r\n`.repeat(4));
          await wait(100);
          expect(socket.destroyed || socket.closed).toBe(false);
          socket.destroy();
        }
        await eventually(async () => (await openFiles(folder)) === 0, 10_000);
      }
    } finally {
      await rm(web, { recursive: true, force: true });
    }
  });

  it('are bounded: one too many is refused when those before have been answered, and the connection is closed', async () => {
    router = await Router.start();
    const put = (n: number) => {
      const body = `{"list":"pipelined","address":"10.9.9.${n}"}`;
      return `PUT /rest/ip/firewall/address-list HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    };
    const socket = await hostile('');
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.write(Array.from({ length: 100 }, (_, n) => put(n + 1)).join(''));
    await closed(socket);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]));
    expect(statuses).toEqual([201, 201, 201, 201, 429]);
    expect(text).toContain('"error":429');
    const kept = await router.rest('GET', '/ip/firewall/address-list?list=pipelined');
    expect(kept.body).toHaveLength(4);
  });

  it('are done in their order, also when the first takes longer', async () => {
    router = await Router.start();
    const put = (body: object) => {
      const text = JSON.stringify(body);
      return `PUT /rest/ip/firewall/address-list HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
    };
    const many = Array.from({ length: 2_000 }, (_, n) => ({ list: 'many', address: `10.9.${n >> 8}.${n & 255}` }));
    const socket = await hostile('');
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.write(put(many) + put({ list: 'one', address: '10.8.0.1' }));
    await eventually(() => text.match(/HTTP\/1\.1 201/g)?.length === 2, 20_000);
    socket.destroy();
    const [first, second] = [...text.matchAll(/x-tollway-revision: (\d+)/g)].map((match) => Number(match[1]));
    expect(second).toBe(Number(first) + 1);
  });

  it.each([
    ['no request', '', 'GARBAGE\r\n\r\n', ['201', '400']],
    ['two lengths', '', 'GET / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', ['201', '400']],
    ['headers that are too long', '', `GET / HTTP/1.1\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`, ['201', '431']],
    ['anything after the last one', 'connection: close\r\n', 'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n', ['201']],
    ['an upgrade', '', upgradeRequest(), ['201']],
  ])('are answered before %s behind them', async (_what, header, behind, answers) => {
    router = await Router.start();
    const body = '{"list":"first","address":"10.9.9.9"}';
    const socket = await hostile('');
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.write(
      `PUT /rest/ip/firewall/address-list HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\n${header}content-length: ${body.length}\r\n\r\n${body}${behind}`,
    );
    await closed(socket);
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(answers);
    expect((await router.rest('GET', '/ip/firewall/address-list?list=first')).body).toHaveLength(1);
  });

  it('of a connection that is closed for them are not even parsed', async () => {
    router = await Router.start();
    let requests = 0;
    router.app.server.on('request', () => {
      requests += 1;
    });
    for (let n = 0; n < 10; n += 1) {
      await closed(await hostile('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'.repeat(1_400)));
    }
    expect(requests).toBeGreaterThan(10);
    expect(requests).toBeLessThan(200);
  });

  it.each(['', 'expect: something\r\n'])(
    'that end with an upgrade leave no socket behind, and nothing to wait for at the end (%j)',
    async (header) => {
      router = await Router.start();
      const first = `GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n${header}\r\n`;
      const socket = await hostile(first + upgradeRequest());
      await eventually(() => socket.destroyed || socket.closed, 5_000).finally(() =>
        router.app.server.closeAllConnections(),
      );
      await eventually(async () => (await connections()) === 0, 5_000);
    },
  );
});
