import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { rawExchange, rawRequest } from './raw-request.js';
import { PASSWORD, Router } from './router.js';

const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
const json = { 'content-type': 'application/json' };

let router: Router;
beforeAll(async () => {
  router = await Router.start({ names: ['router.example'] });
});
afterAll(() => router.close());

const port = () => new URL(router.url).port;

describe('Host', () => {
  it.each([
    ['127.0.0.1:PORT', 200],
    ['localhost:PORT', 200],
    ['LOCALHOST.', 200],
    ['router.example', 200],
    ['Router.Example:443', 200],
    ['evil.example', 421],
    ['router.example.evil.example', 421],
    ['127.0.0.2:PORT', 421],
    ['192.0.2.1', 421],
    ['[::1]:PORT', 421],
    ['evil.example@127.0.0.1', 421],
  ])('%s is answered with %i', async (host, status) => {
    const headers = { host: host.replace('PORT', port()), authorization };
    for (const path of ['/rest/system/identity', '/healthz', '/docs/json', '/api/v1/revisions']) {
      const answer = await rawRequest(router.url + path, 'GET', headers);
      expect(answer.status, path).toBe(status);
      if (status === 421)
        expect(JSON.parse(answer.body)).toMatchObject({ error: 421, detail: expect.stringContaining('--name') });
    }
  });

  it('[::1] is known where the router listens there', async () => {
    const other = await Router.start({}, true, '::1');
    try {
      for (const host of ['[::1]', '[0:0:0:0:0:0:0:1]', 'localhost']) {
        expect((await rawRequest(`${other.url}/healthz`, 'GET', { host })).status, host).toBe(200);
      }
      expect((await rawRequest(`${other.url}/healthz`, 'GET', { host: 'evil.example' })).status).toBe(421);
    } finally {
      await other.close();
    }
  });

  it('is given once', async () => {
    const text = `GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`;
    expect((await rawExchange(router.url, text)).text).toMatch(/^HTTP\/1.1 400 /);
  });

  it('is not left out, but by HTTP/1.0', async () => {
    const answer = (version: string) =>
      rawExchange(router.url, `GET /healthz HTTP/${version}\r\nconnection: close\r\n\r\n`);
    const { text } = await answer('1.1');
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(text).toContain('"detail":"the header Host is missing"');
    expect((await answer('1.0')).text).toMatch(/^HTTP\/1.1 200 /);
  });

  it('a request with a whole URL is none for a server', async () => {
    const text = `GET http://evil.example/rest/user HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`;
    expect((await rawExchange(router.url, text)).text).toMatch(/^HTTP\/1.1 400 /);
  });
});

describe('requests that another site makes the browser send', () => {
  const set = (headers: Record<string, string>) =>
    rawRequest(
      `${router.url}/rest/system/identity/set`,
      'POST',
      { authorization, ...json, ...headers },
      '{"name":"r1"}',
    );

  it.each([
    [{}, 200],
    [{ origin: 'OWN' }, 200],
    [{ origin: 'OWN', 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'http://127.0.0.1:1' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 403],
  ])('a change by Basic with %j is answered with %i', async (given: Record<string, string>, status) => {
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace('OWN', router.url)]),
    );
    expect((await set(headers)).status).toBe(status);
  });

  it('a link to the router may be followed; its answers cannot be embedded elsewhere', async () => {
    const get = async (headers: Record<string, string>) =>
      (await rawRequest(`${router.url}/rest/system/identity`, 'GET', { authorization, ...headers })).status;
    expect(await get({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(200);
    expect(await get({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).toBe(403);
    expect(await get({ origin: 'http://evil.example' })).toBe(403);
  });

  it('a WebSocket of another site is refused, also by Basic', async () => {
    const statusOf = (headers: Record<string, string>) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(`${router.url.replace('http', 'ws')}/live`, {
          headers: { authorization, ...headers },
        });
        socket.on('open', () => {
          socket.close();
          resolve(101);
        });
        socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
        socket.on('error', () => undefined);
      });
    expect(await statusOf({})).toBe(101);
    expect(await statusOf({ origin: router.url })).toBe(101);
    expect(await statusOf({ origin: 'http://evil.example' })).toBe(403);
    expect(await statusOf({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'websocket' })).toBe(403);
    expect(await statusOf({ host: 'evil.example' })).toBe(421);
  });
});

describe('bodies', () => {
  const post = (path: string, body: string, headers: Record<string, string> = json) =>
    rawRequest(router.url + path, 'POST', { authorization, ...headers }, body);

  it('are parsed only as application/json', async () => {
    const type = async (headers: Record<string, string>) =>
      (await post('/rest/system/identity/set', '{"name":"r1"}', headers)).status;
    expect(await type(json)).toBe(200);
    expect(await type({ 'content-type': 'Application/JSON; charset=utf-8' })).toBe(200);
    expect(await type({})).toBe(415);
    for (const wrong of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonx',
      'application/json; charset=latin1',
      'nonsense',
    ]) {
      expect(await type({ 'content-type': wrong }), wrong).toBe(415);
    }
    expect(await type({ ...json, 'content-encoding': 'gzip' })).toBe(415);
    expect((await post('/rest/ip/address/print', '', { 'content-type': 'text/plain' })).status).toBe(200);
  });

  it('and credentials are UTF-8: other bytes would all become the same character', async () => {
    const put = (password: string) =>
      rawRequest(
        `${router.url}/rest/user`,
        'PUT',
        { authorization, ...json },
        Buffer.from(`{"name":"lea","group":"read","password":"${password}"}`, 'latin1'),
      );
    const refused = await put('gr\u00fc\u00dfe von hier');
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.body)).toMatchObject({ detail: 'the body is not valid UTF-8' });
    expect((await put(Buffer.from('gr\u00fc\u00dfe von hier').toString('latin1'))).status).toBe(201);
    const as = async (bytes: Buffer) => {
      const login = `Basic ${Buffer.concat([Buffer.from('lea:'), bytes]).toString('base64')}`;
      return (await rawRequest(`${router.url}/rest/system/identity`, 'GET', { authorization: login })).status;
    };
    expect(await as(Buffer.from('gr\u00fc\u00dfe von hier', 'latin1'))).toBe(401);
    expect(await as(Buffer.from('gr\u00fc\u00dfe von hier'))).toBe(200);
  });

  it('hold bare numbers as RouterOS takes them', async () => {
    const mtu = async (text: string) => {
      const answer = await rawRequest(
        `${router.url}/rest/interface/ethernet/ether1`,
        'PATCH',
        { authorization, ...json },
        `{"mtu":${text}}`,
      );
      return JSON.parse(answer.body);
    };
    expect(await mtu('1400')).toMatchObject({ mtu: '1400' });
    expect(await mtu('02570')).toMatchObject({ mtu: '1400' });
    expect(await mtu('0x578')).toMatchObject({ mtu: '1400' });
    expect(await mtu('1e3')).toMatchObject({
      error: 400,
      property: 'mtu',
      detail: 'value of mtu: numbers with an exponent are not accepted: 1e3',
    });
    const list = '[{".id":"ether1","mtu":1400},{".id":"ether2","mtu":[1.5e3]}]';
    const many = await rawRequest(`${router.url}/rest/interface/ethernet`, 'PATCH', { authorization, ...json }, list);
    expect(JSON.parse(many.body)).toMatchObject({ property: 'mtu', detail: expect.stringMatching(/^element 1: /) });
    expect(await mtu('08')).toMatchObject({ error: 400, detail: expect.stringContaining('JSON') });
  });

  it.each([
    ['nested 17 deep', `{"a":${'['.repeat(17)}${']'.repeat(17)}}`, /deeper/],
    ['nested 1,000,000 deep', '['.repeat(1_000_000), /deeper/],
    [
      'an object of 1,025 members',
      `{${Array.from({ length: 1_025 }, (_, n) => `"k${n}":1`).join(',')}}`,
      /1024 members/,
    ],
    ['a list of 200,001 elements', `{"a":[${'1,'.repeat(200_000)}1]}`, /200000 elements/],
    ['a comma before the end', '{"a":1,}', /JSON/],
    ['a key without quotes', '{a:1}', /JSON/],
    ['two values', '{"a":1} {"b":2}', /JSON/],
    ['a line break in a string', '{"a":"\n"}', /JSON/],
    ['an escape that is none', '{"a":"\\x"}', /JSON/],
    ['nothing after a colon', '{"a":', /JSON/],
    ['a name that is given twice', '{"name":"a","name":"b"}', /^value of name: it is given twice$/],
    ['and with an escape', '{"name":"a","n\\u0061me":"b"}', /^value of name: it is given twice$/],
  ])('%s is refused', async (_what, body, detail) => {
    const answer = await post('/rest/system/identity/set', body);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).detail).toMatch(detail);
  });

  it('before login have at most 4 KiB, names at most 64 characters and passwords 1,024 bytes', async () => {
    const login = (body: object) => rawRequest(`${router.url}/api/v1/login`, 'POST', json, JSON.stringify(body));
    const large = await login({ name: 'x'.repeat(4_096), password: 'x' });
    expect(large.status).toBe(413);
    expect(JSON.parse(large.body).detail).toMatch(/4 KiB/);
    const long = await login({ name: 'x'.repeat(65), password: 'x' });
    expect(long.status).toBe(400);
    expect(JSON.parse(long.body)).toMatchObject({ property: 'name', detail: expect.stringContaining('64') });
    expect((await login({ name: 'admin', password: 'x'.repeat(1_025) })).status).toBe(400);
    const basic = `Basic ${Buffer.from(`${'x'.repeat(65)}:y`).toString('base64')}`;
    expect((await rawRequest(`${router.url}/rest/user`, 'GET', { authorization: basic })).status).toBe(401);
    const log = await rawRequest(`${router.url}/rest/log`, 'GET', { authorization });
    expect(log.body).not.toContain('xxxx');
  });

  it('many times too long are refused in the shape of every error, and the connection ends', async () => {
    const body = `{"name":"${'x'.repeat(64 << 10)}"}`;
    const request = `POST /api/v1/login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n`;
    for (const length of [body.length, 1_000_000_000]) {
      const answer = await rawExchange(router.url, `${request}content-length: ${length}\r\n\r\n${body}`, 5_000);
      expect(answer.text, String(length)).toMatch(/^HTTP\/1.1 413 /);
      expect(answer.text).toContain('the body is larger than 4 KiB');
      expect(answer.closed).toBe(true);
    }
  });

  it('of a refused request are not taken in to their end', async () => {
    const { port: to, hostname } = new URL(router.url);
    const { connect } = await import('node:net');
    const socket = connect(Number(to), hostname);
    socket.on('error', () => undefined);
    socket.write('PUT /rest/user HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000000000\r\n\r\n');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    const more = setInterval(() => socket.write('x'.repeat(1_000)), 50);
    const started = Date.now();
    await new Promise((resolve) => socket.on('close', resolve));
    clearInterval(more);
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    expect(Date.now() - started).toBeLessThan(15_000);
  });
});
