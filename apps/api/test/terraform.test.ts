import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Router } from './router.js';

/** The calls that Terraform's RouterOS provider makes, in its order and with its spelling. */

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

const headers = { 'content-type': 'application/json', 'user-agent': 'Go-http-client/1.1' };
const call = (method: string, path: string, body?: object) => router.rest(method, path, body, headers);
const FILTER = '/ip/firewall/filter';

describe('a run of Terraform', () => {
  let address = '';
  let drop = '';
  let web = '';
  let more: string[] = [];

  it('probes the version', async () => {
    const { status, item: body } = await call('GET', '/system/resource');
    expect(status).toBe(200);
    expect(body.version).toMatch(/^(\d+\.){1,2}\d+/);
    for (const value of Object.values(body)) expect(typeof value).toBe('string');
  });

  it('creates resources in parallel and finds an id in each reply', async () => {
    const [one, two, three] = await Promise.all([
      call('PUT', '/ip/address', { address: '10.9.9.1/24', interface: 'ether1' }),
      call('PUT', FILTER, { action: 'drop', chain: 'forward' }),
      call('POST', '/system/identity/set', { name: 'tf' }),
    ]);
    expect([one.status, two.status, three.status]).toEqual([201, 201, 200]);
    expect(three.body).toEqual([]);
    address = one.id;
    drop = two.id;
    expect((await call('GET', '/system/identity')).body).toEqual({ name: 'tf' });
  });

  it('adds a rule before another', async () => {
    const body = { action: 'accept', chain: 'forward', 'dst-port': '80', 'place-before': drop, protocol: 'tcp' };
    web = (await call('PUT', FILTER, body)).id;
    const ids = (await call('GET', FILTER)).rows.map((row) => row['.id']);
    expect(ids).toEqual([web, drop]);
  });

  it('moves items: the last of its sequence is the destination', async () => {
    more = [];
    for (const port of ['1', '2', '3']) {
      const body = { action: 'accept', chain: 'forward', 'dst-port': port, protocol: 'udp' };
      more.push((await call('PUT', FILTER, body)).id);
    }
    const [a, b, c] = more;
    expect(await call('POST', `${FILTER}/move`, { destination: b, numbers: `${c},${a}` })).toMatchObject({
      status: 200,
      body: [],
    });
    const ids = (await call('GET', FILTER)).rows.map((row) => row['.id']);
    expect(ids).toEqual([web, drop, c, a, b]);
  });

  it('refreshes by a filter on .id, also for what is gone', async () => {
    const { rows: body } = await call('GET', `/ip/address?.id=${address}`);
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({ '.id': address, address: '10.9.9.1/24', disabled: 'false' });
    expect((await call('GET', '/ip/address?.id=*FFFFF')).body).toEqual([]);
  });

  it('updates with all set fields, and unsets', async () => {
    await call('GET', `${FILTER}?.id=${web}`);
    const update = { action: 'accept', chain: 'forward', 'dst-port': '8080', protocol: 'tcp' };
    expect((await call('PATCH', `${FILTER}/${web}`, update)).body).toMatchObject({ '.id': web, 'dst-port': '8080' });
    const unset = {
      '!in-interface': '',
      '!protocol': '',
      action: 'drop',
      chain: 'forward',
      comment: '',
      disabled: 'no',
      'dst-port': '',
    };
    const { status, body } = await call('PATCH', `${FILTER}/${web}`, unset);
    expect(status).toBe(200);
    expect(body).toMatchObject({ action: 'drop', disabled: 'false' });
    for (const gone of ['protocol', 'dst-port', 'in-interface', 'comment']) expect(body).not.toHaveProperty(gone);
  });

  it('shows an error to the user and goes on', async () => {
    const answer = await call('PUT', '/ip/address', { address: '10.9.9.1/24', interface: 'ether77' });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: 400, message: 'Bad Request' });
    expect(answer.error.detail).toMatch(/input does not match any value of interface/);
  });

  it('destroys', async () => {
    for (const id of [web, drop, ...more]) {
      const answer = await call('DELETE', `${FILTER}/${id}`);
      expect(answer).toMatchObject({ status: 204, body: '' });
    }
    expect((await call('DELETE', `/ip/address/${address}`)).status).toBe(204);
    expect((await call('DELETE', `/ip/address/${address}`)).body).toEqual({ error: 404, message: 'Not Found' });
  });
});

/** The same edits as Ansible's modules make them, spoken as REST commands. */
describe('a run of Ansible', () => {
  it('adds in order, changes, moves, removes matchers and deletes by a list of ids', async () => {
    const print = async () => (await call('POST', `${FILTER}/print`, {})).rows;
    const first = (await call('POST', `${FILTER}/add`, { chain: 'forward', action: 'accept', comment: 'one' })).item
      .ret;
    const second = (await call('POST', `${FILTER}/add`, { chain: 'forward', action: 'drop', comment: 'two' })).item.ret;
    await call('POST', `${FILTER}/set`, { 'dst-port': '80', protocol: 'tcp', '.id': second });
    await call('POST', `${FILTER}/move`, { numbers: second, destination: first });
    expect((await print()).map((row) => row.comment)).toEqual(['two', 'one']);
    await call('POST', `${FILTER}/set`, { '!dst-port': '', '!protocol': '', '.id': second });
    expect((await print())[0]).not.toHaveProperty('protocol');
    expect((await call('POST', `${FILTER}/remove`, { '.id': `${first},${second}` })).body).toEqual([]);
    expect(await print()).toEqual([]);
    expect((await call('POST', '/system/identity/set', { name: 'r2' })).status).toBe(200);
  });
});
