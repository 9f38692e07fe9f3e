import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

describe('rows of a list', () => {
  it('adds, shows, changes and removes an address, and the data plane follows', async () => {
    const added = await router.rest('PUT', '/ip/address', { address: '10.9.9.1/24', interface: 'ether1' });
    expect(added.status).toBe(201);
    expect(added.body).toMatchObject({
      address: '10.9.9.1/24',
      network: '10.9.9.0',
      interface: 'ether1',
      'actual-interface': 'ether1',
      disabled: 'false',
      dynamic: 'false',
      invalid: 'false',
    });
    const id = added.id;
    expect(id).toMatch(/^\*[0-9A-F]+$/);
    expect(router.peer?.active?.addresses).toHaveLength(1);

    const changed = await router.rest('PATCH', `/ip/address/${id}`, { comment: 'lab', disabled: 'yes' });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ '.id': id, comment: 'lab', disabled: 'true', address: '10.9.9.1/24' });
    expect(router.peer?.active?.addresses).toHaveLength(0);

    expect((await router.rest('GET', `/ip/address/${encodeURIComponent(id)}`)).item.comment).toBe('lab');
    const removed = await router.rest('DELETE', `/ip/address/${id}`);
    expect(removed.status).toBe(204);
    expect(removed.body).toBe('');
    expect((await router.rest('DELETE', `/ip/address/${id}`)).body).toEqual({ error: 404, message: 'Not Found' });
  });
});

describe('a request', () => {
  it('finds a menu whose path is escaped', async () => {
    expect((await router.rest('GET', '/%75ser/%61dmin')).item.name).toBe('admin');
    expect((await router.rest('GET', '/ip/%61ddress')).status).toBe(200);
    expect((await router.rest('GET', '/%2Fuser')).status).toBe(404);
  });

  it('cannot leave a matcher out by a list with nothing in it', async () => {
    const answer = await router.rest('PUT', '/ip/firewall/filter', { chain: 'forward', 'src-address': [] });
    expect(answer).toMatchObject({ status: 400, body: { property: 'src-address' } });
    const listed = await router.rest('PUT', '/ip/firewall/filter', { chain: 'input', 'connection-state': ['new'] });
    expect(listed.item['connection-state']).toBe('new');
    await router.rest('DELETE', `/ip/firewall/filter/${listed.id}`);
  });
});

describe('a change to what an item has already', () => {
  it('makes no revision, also where that is so by default', async () => {
    const path = (await router.rest('PUT', '/queue/type', { name: 'nn', kind: 'codel' })).id;
    const set = async (values: object) => {
      const answer = await router.rest('PATCH', `/queue/type/${path}`, values);
      expect(answer.status).toBe(200);
      return answer.headers.get('x-tollway-revision');
    };
    expect((await router.rest('GET', `/queue/type/${path}`)).item['codel-target']).toBe('5ms');
    expect(await set({ 'codel-target': '5ms' })).toBeNull();
    expect(await set({ 'codel-target': '6ms' })).not.toBeNull();
    expect(await set({ 'codel-target': '5ms' })).not.toBeNull();
    expect(await set({ 'codel-target': '5ms' })).toBeNull();
    await router.rest('DELETE', `/queue/type/${path}`);
  });
});

describe('an address without a network', () => {
  it('is taken, with a hint that no neighbour is reached by it', async () => {
    const put = async (body: object) =>
      (await router.rest('PUT', '/ip/address', { interface: 'ether2', ...body })).item;
    const bare = await put({ address: '10.77.0.1' });
    expect(bare).toMatchObject({ address: '10.77.0.1/32', hint: expect.stringMatching(/^the address has no network/) });
    const ends = await put({ address: '10.77.0.2/32', network: '10.77.0.3' });
    const usual = await put({ address: '10.78.0.1/24' });
    for (const item of [ends, usual]) expect(item).not.toHaveProperty('hint');
    for (const { '.id': id } of [bare, ends, usual]) await router.rest('DELETE', `/ip/address/${id}`);
  });
});
