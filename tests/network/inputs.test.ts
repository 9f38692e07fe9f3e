import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { dispose, newRouter, PASSWORD, type Router } from './router.ts';

/** Wrong input: an answer that names the property and what it accepts, and nothing changed. */

let router: Router;

beforeAll(async () => {
  router = await newRouter({ options: ['--memory'] }).up();
});
afterAll(() => dispose(router));

/** The rows of a menu without what traffic counts, and without the rule that comes with the first fasttracked packet. */
const settings = async (menu: string) =>
  (await router.rest.list(menu))
    .filter((row) => row.dynamic !== 'true')
    .map((row) => ({ ...row, bytes: undefined, packets: undefined }));

const detailOf = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'detail' in body ? String(body.detail) : '';

describe.each([
  ['a bad prefix', '/ip/address', { address: '10.0.0.1/33', interface: 'ether1' }, 'address', /prefix|a\.b\.c\.d/i],
  [
    'an unknown interface',
    '/ip/address',
    { address: '10.0.0.1/24', interface: 'ether77' },
    'interface',
    /ether77|interface/,
  ],
  [
    'port 70000',
    '/ip/firewall/filter',
    { chain: 'forward', protocol: 'tcp', 'dst-port': '70000' },
    'dst-port',
    /65535/,
  ],
  [
    'an action that does not exist',
    '/ip/firewall/filter',
    { chain: 'forward', action: 'explode' },
    'action',
    /accept.*drop|drop.*accept/,
  ],
  [
    'a property that does not exist',
    '/ip/firewall/filter',
    { chain: 'forward', 'dst-prot': '80' },
    'dst-prot',
    /dst-prot/,
  ],
  ['a missing required property', '/ip/address', { interface: 'ether1' }, 'address', /address/],
  [
    'a read-only property',
    '/ip/address',
    { address: '10.0.0.1/24', interface: 'ether1', dynamic: 'true' },
    'dynamic',
    /dynamic/,
  ],
])('%s', (_what, menu, row, property, accepts) => {
  test('is 400, names the property and what it accepts, and adds nothing', async () => {
    const before = await settings(menu);
    const answer = await router.rest.request('PUT', `/rest${menu}`, row);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(answer.body).toMatchObject({ error: 400, message: 'Bad Request', property });
    expect(detailOf(answer.body)).toContain(property);
    expect(detailOf(answer.body)).toMatch(accepts);
    expect(await settings(menu)).toEqual(before);
  });
});

test('an address that is there already is 400', async () => {
  const menu = '/ip/firewall/address-list';
  const id = await router.rest.add(menu, { list: 'twice', address: '192.0.2.1' });
  const again = await router.rest.request('PUT', `/rest${menu}`, { list: 'twice', address: '192.0.2.1' });
  expect(again.status).toBe(400);
  expect(detailOf(again.body)).toMatch(/already|exists|address/);
  await router.rest.remove(menu, id);
});

const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
const put = (body: string) =>
  fetch(`${router.url}/rest/ip/address`, {
    method: 'PUT',
    headers: { authorization, 'content-type': 'application/json' },
    body,
  });

test('malformed JSON is 400 in the error shape', async () => {
  const response = await put('{"address": ');
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: 400, message: 'Bad Request' });
});

test('a body of 10 MB is 413 and the API goes on', async () => {
  const response = await put(JSON.stringify({ comment: 'x'.repeat(10 << 20) }));
  expect(response.status).toBe(413);
  expect(await router.healthy()).toBe(true);
});

test('wrong or missing credentials are 401', async () => {
  const attempts: Record<string, string>[] = [
    {},
    { authorization: 'Basic bm9ib2R5Ong=' },
    { cookie: 'tollway_session=forged' },
  ];
  for (const headers of attempts) {
    const response = await fetch(`${router.url}/rest/interface`, { headers });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: 401 });
  }
  const login = await fetch(`${router.url}/api/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'admin', password: 'wrong' }),
  });
  expect(login.status).toBe(401);
});

test('an unknown item is 404', async () => {
  expect((await router.rest.request('GET', '/rest/ip/address/*FFFF')).status).toBe(404);
  expect((await router.rest.request('DELETE', '/rest/ip/address/*FFFF')).status).toBe(404);
});

describe('/live', () => {
  const open = (headers: Record<string, string>) =>
    new WebSocket(`${router.url.replace('http', 'ws')}/live`, { headers });

  test('is closed to strangers', async () => {
    const [, response] = await once(open({}), 'unexpected-response');
    expect(response.statusCode).toBe(401);
  });

  test('answers malformed messages with an error and stays open', async () => {
    const socket = open({ authorization });
    await once(socket, 'open');
    for (const message of ['{', '[]', '{"op":"dance"}', '{"op":"subscribe","id":1,"topic":"menu","menu":"/no/such"}']) {
      socket.send(message);
      const [data] = await once(socket, 'message');
      expect(JSON.parse(String(data))).toMatchObject({ op: 'error', detail: expect.stringMatching(/./) });
    }
    socket.send(JSON.stringify({ op: 'subscribe', id: 5, topic: 'menu', menu: '/interface', first: 0, count: 10 }));
    const [data] = await once(socket, 'message');
    expect(JSON.parse(String(data))).toMatchObject({ id: 5, op: 'snapshot' });
    socket.close();
  });
});

test('noise on the port is answered or closed, and the API goes on', async () => {
  const { hostname, port } = new URL(router.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.resume();
  socket.write(Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 97) & 0xff)));
  await once(socket, 'close');
  expect(await router.healthy()).toBe(true);
});
