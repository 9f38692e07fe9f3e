import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserSemaphore } from '../src/scheduling/user-semaphore.js';
import { rawExchange } from './raw-request.js';
import { PASSWORD, Router } from './router.js';

const basic = (name: string, password: string) =>
  `authorization: Basic ${Buffer.from(`${name}:${password}`).toString('base64')}\r\n`;
const ADMIN = basic('admin', PASSWORD);
const READER = { name: 'reader', group: 'read', password: 'Bodies-That-Wait-1' };

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('memory for bodies', () => {
  const entering = (semaphore: UserSemaphore) => {
    const entered: string[] = [];
    const enter = (name: string, user: number, amount: number) => {
      const gone = new AbortController();
      semaphore.acquire(user, amount, gone.signal).then(
        () => entered.push(name),
        () => undefined,
      );
      return () => gone.abort();
    };
    return { entered, enter };
  };

  it('is taken by those of one user one after the other, while others enter', async () => {
    const { entered, enter } = entering(new UserSemaphore(20, 10));
    const end = enter('a1', 1, 8);
    const giveUp = enter('a2', 1, 8);
    enter('a3', 1, 3);
    enter('b1', 2, 10);
    await settled();
    expect(entered).toEqual(['a1', 'b1']);
    giveUp();
    await settled();
    expect(entered).toEqual(['a1', 'b1']);
    end();
    await settled();
    expect(entered).toEqual(['a1', 'b1', 'a3']);
  });

  it('when there is none in all, is for the one that waits longest, also if others would fit', async () => {
    const { entered, enter } = entering(new UserSemaphore(20, 10));
    const ends = [enter('a', 1, 10), enter('b', 2, 5)];
    const large = enter('c', 3, 10);
    enter('d', 4, 1);
    await settled();
    expect(entered).toEqual(['a', 'b']);
    ends[1]?.();
    await settled();
    expect(entered).toEqual(['a', 'b', 'c']);
    large();
    await settled();
    expect(entered).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is not given to those who have gone', async () => {
    const semaphore = new UserSemaphore(10, 10);
    const { entered, enter } = entering(semaphore);
    const end = enter('a', 1, 10);
    const gone = enter('b', 1, 10);
    gone();
    end();
    enter('c', 1, 10);
    await settled();
    expect(entered).toEqual(['a', 'c']);
  });
});

describe('bodies', () => {
  let router: Router;
  const sockets: Socket[] = [];
  beforeEach(async () => {
    router = await Router.start();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await router.close();
  });

  const head = (method: string, path: string, who: string, length: number) =>
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${who}connection: close\r\n` +
    `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

  it.each(['/api/v1/login', '/', '/index.html', '/nothing/here', '/restore'])(
    'before a login are short: %s',
    async (path) => {
      const body = `[${'{},'.repeat(2_000)}{}]`;
      for (const who of ['', ADMIN]) {
        const { text } = await rawExchange(router.url, head('POST', path, who, body.length) + body);
        expect(text).toMatch(/^HTTP\/1.1 413 /);
        expect(text).toContain('the body is larger than 4 KiB');
      }
    },
  );

  it('that are no object are refused by commands, also null; one that is not there has no arguments', async () => {
    const run = (body?: string) =>
      fetch(`${router.url}/rest/ip/firewall/filter/reset-counters-all`, {
        method: 'POST',
        headers: {
          authorization: ADMIN.slice('authorization: '.length).trim(),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      });
    for (const body of ['null', '[]', '5', '"x"']) expect((await run(body)).status, body).toBe(400);
    for (const body of [undefined, '{}']) expect((await run(body)).status, body).toBe(200);
  });

  it('of one user, as large as may be, wait for each other and are all answered', async () => {
    const list = `[${Array(190_000).fill('{}').join(',')}]`;
    const body = `[${Array(14).fill(list).join(',')}]`;
    const request = head('POST', '/rest/queue/simple/print', ADMIN, body.length) + body;
    const started = Date.now();
    const answeredMs: number[] = [];
    const ask = async () => {
      const { text } = await rawExchange(router.url, request, 60_000);
      answeredMs.push(Date.now() - started);
      return text;
    };
    const answers = await Promise.all(Array.from({ length: 6 }, ask));
    for (const text of answers) expect(text).toMatch(/^HTTP\/1.1 400 .*the body must be one JSON object/s);
    // All at once, which takes six times the memory, they would all be answered at the end.
    expect(Math.min(...answeredMs)).toBeLessThan(Math.max(...answeredMs) / 2);
  });

  it('that one user begins and does not end keep no other waiting', async () => {
    expect((await router.rest('PUT', '/user', READER)).status).toBe(201);
    const { hostname, port } = new URL(router.url);
    const begun = head('POST', '/rest/queue/simple/print', basic(READER.name, READER.password), 8_000_000);
    for (let count = 0; count < 12; count += 1) {
      const socket = connect(Number(port), hostname, () => socket.write(`${begun}[`));
      sockets.push(socket.on('error', () => undefined));
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const queues = Array.from({ length: 1_000 }, (_, n) => ({ name: `q${n}`, target: `10.0.${n >> 8}.${n & 255}` }));
    const body = JSON.stringify(queues);
    const { text } = await rawExchange(router.url, head('PUT', '/rest/queue/simple', ADMIN, body.length) + body);
    expect(text).toMatch(/^HTTP\/1.1 201 /);
  });

  it('of settings are one object: a list is refused, an empty one too', async () => {
    for (const body of [[], [{ 'tcp-syncookies': 'true' }]]) {
      const answer = await router.rest('PATCH', '/ip/settings', body);
      expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('one JSON object') } });
    }
  });

  it('that are announced as longer than would ever be taken in are refused before they come', async () => {
    for (const [path, user, length] of [
      ['/api/v1/login', '', 99_999_999_999_999],
      ['/rest/queue/simple/print', ADMIN, 99_999_999_999_999],
    ] as const) {
      const started = Date.now();
      const { text } = await rawExchange(router.url, `${head('POST', path, user, length)}{"a":`, 60_000);
      expect(text).toMatch(/^HTTP\/1\.1 413 .*the body is larger than/s);
      expect(Date.now() - started).toBeLessThan(8_000);
    }
  });
});
