import { afterAll, beforeAll, expect, test } from 'vitest';
import { addHost, type Host, link, removeHost } from './netns.ts';
import { dispose, newDataDir, PASSWORD, Router } from './router.ts';

/** The page and the API over IPv6, from another host: their checks of names and origins know addresses in brackets. */

const prefix = `tw${process.pid}p`;
const OWN = '2001:db8:aa::1';
const PORT = 8443;
const AUTHORITY = `[${OWN}]:${PORT}`;
const URL = `http://${AUTHORITY}`;

let box: Host;
let client: Host;
let router: Router;

beforeAll(async () => {
  box = addHost(`${prefix}-box`, true);
  client = addHost(`${prefix}-client`, true);
  link(box, 'eth1', client, 'eth1');
  link(box, 'mgmt', client, 'mgmt');
  box.must('ip', 'address', 'add', `${OWN}/64`, 'dev', 'mgmt');
  client.must('ip', 'address', 'add', '2001:db8:aa::2/64', 'dev', 'mgmt');
  const settings = { inside: box, options: ['--ports', 'eth1', '--no-defaults'] };
  router = await new Router(newDataDir(), AUTHORITY, settings).up();
});
afterAll(async () => {
  await dispose(router);
  for (const host of [box, client]) removeHost(host);
});

/** Status of the answer to a request of the client, and its body. */
function asked(path: string, ...args: readonly string[]): { readonly status: number; readonly body: string } {
  const { stdout } = client.run('curl', '-6', '-sg', '-m', '5', '-w', '\n%{http_code}', ...args, `${URL}${path}`);
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
}

const IDENTITY = '/rest/system/identity';
const AS_ADMIN = ['-u', `admin:${PASSWORD}`];

test('the page and REST answer to the address of the router', () => {
  const page = asked('/');
  expect(page.status).toBe(200);
  expect(page.body).toMatch(/<!doctype html>/i);
  expect(asked(IDENTITY).status).toBe(401);
  const identity = asked(IDENTITY, ...AS_ADMIN);
  expect(identity.status).toBe(200);
  expect(JSON.parse(identity.body)).toHaveProperty('name');
  // The address in another form, and without the port.
  for (const host of [`[2001:DB8:aa:0::1]:${PORT}`, `[${OWN}]`]) {
    expect(asked(IDENTITY, ...AS_ADMIN, '-H', `Host: ${host}`).status, host).toBe(200);
  }
});

test('names and addresses that are none of the router are refused', () => {
  for (const host of ['rebound.example', `rebound.example:${PORT}`, `[2001:db8:aa::2]:${PORT}`, '[::1]', '10.0.0.1']) {
    expect(asked(IDENTITY, ...AS_ADMIN, '-H', `Host: ${host}`).status, host).toBe(421);
  }
});

test('requests of the page itself are taken, and those of other pages are not', () => {
  const login = ['-H', 'content-type: application/json', '--data-binary', `{"name":"admin","password":"${PASSWORD}"}`];
  expect(asked('/api/v1/login', ...login, '-H', `Origin: ${URL}`).status).toBe(200);
  for (const origin of [`http://[2001:db8:aa::2]:${PORT}`, `http://[${OWN}]:8080`, 'http://[::1]:8443', 'null']) {
    expect(asked('/api/v1/login', ...login, '-H', `Origin: ${origin}`).status, origin).toBe(403);
  }
});

test('the live connection is upgraded for the page itself alone', () => {
  const upgrade = (origin: string) =>
    client.run(
      'curl',
      '-6',
      '-sgi',
      '--http1.1',
      '-m',
      '2',
      ...AS_ADMIN,
      ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'].flatMap((header) => ['-H', header]),
      '-H',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      '-H',
      `Origin: ${origin}`,
      `${URL}/live`,
    ).stdout;
  expect(upgrade(URL)).toMatch(/^HTTP\/1\.1 101 /);
  expect(upgrade(`http://[2001:db8:aa::2]:${PORT}`)).toMatch(/^HTTP\/1\.1 403 /);
});
