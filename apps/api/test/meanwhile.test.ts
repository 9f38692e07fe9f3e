import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Router } from './router.js';

let router: Router;
beforeEach(async () => {
  router = await Router.start();
});
afterEach(() => router.close());

const LISTS = '/ip/firewall/address-list';
const PASSWORD = 'a password of eve';
const eve = { authorization: `Basic ${Buffer.from(`eve:${PASSWORD}`).toString('base64')}` };
const eva = { authorization: `Basic ${Buffer.from(`eva:${PASSWORD}`).toString('base64')}` };

const addEve = async () => (await router.rest('PUT', '/user', { name: 'eve', group: 'full', password: PASSWORD })).id;
/** Changes of a user by an administrator, and the answer to what the user had begun. */
const DEEDS: readonly [string, number, (id: string) => Promise<unknown>][] = [
  ['removed', 401, (id) => router.rest('DELETE', `/user/${id}`)],
  ['disabled', 401, (id) => router.rest('PATCH', `/user/${id}`, { disabled: 'yes' })],
  ['given another password', 401, (id) => router.rest('PATCH', `/user/${id}`, { password: 'quite another one' })],
  ['put into a lower group', 403, (id) => router.rest('PATCH', `/user/${id}`, { group: 'read' })],
];

/** A request whose body comes in two parts. `received`: the router has begun to read it. */
function slowly(headers: Record<string, string>, path: string, body: object) {
  const text = JSON.stringify(body);
  const length = String(text.length);
  const sent = request(`${router.url}/rest${path}`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json', 'content-length': length, expect: '100-continue' },
    agent: false,
  });
  const status = new Promise<number>((resolve, reject) => {
    sent.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    sent.on('error', reject);
  });
  const received = new Promise<void>((resolve) => sent.on('continue', () => resolve()));
  sent.flushHeaders();
  return {
    status,
    async begin() {
      await received;
      sent.write(text.slice(0, 1));
      // The login has been looked at by then: see the answers of those to whom nothing happens.
      await sleep(100);
    },
    end: () => sent.end(text.slice(1)),
  };
}

describe('who begins a request, and is meanwhile', () => {
  it.each(DEEDS)('%s, does nothing with it', async (_, refused, deed) => {
    const id = await addEve();
    const slow = [
      slowly(eve, '/user', { name: 'mallory', group: 'full', password: 'a password of mallory' }),
      slowly(eve, LISTS, { list: 'l', address: '10.9.9.9' }),
    ];
    for (const each of slow) await each.begin();
    await deed(id);
    for (const each of slow) each.end();
    expect(await Promise.all(slow.map(({ status }) => status))).toEqual([refused, refused]);
    expect((await router.rest('GET', '/user')).rows.map(({ name }) => name)).not.toContain('mallory');
    expect((await router.rest('GET', LISTS)).rows).toEqual([]);
  });

  it.each(DEEDS)('%s while the change waits for others, does nothing with it', async (_, refused, deed) => {
    const id = await addEve();
    const { peer } = router;
    if (peer === undefined) throw new Error('there is no peer');
    peer.delayMs = 300;
    const others = [1, 2].map((at) => router.rest('PUT', LISTS, { list: 'l', address: `10.0.0.${at}` }));
    await expect.poll(() => peer.prepares).toBeGreaterThan(0);
    const waiting = router.rest('PUT', LISTS, { list: 'l', address: '10.9.9.9' }, eve);
    await sleep(100);
    await deed(id);
    expect((await waiting).status).toBe(refused);
    await Promise.all(others);
    expect((await router.rest('GET', LISTS)).rows).toHaveLength(2);
  });

  it.each(DEEDS.filter(([, refused]) => refused === 401))(
    '%s, sees no more of a command that looks on',
    async (_, refused, deed) => {
      const id = await addEve();
      const begun = performance.now();
      const looking = router.rest('POST', '/interface/monitor-traffic', { interface: 'ether1', duration: '20s' }, eve);
      await sleep(300);
      await router.rest('PATCH', `/user/${id}`, { comment: 'nothing has happened yet' });
      await deed(id);
      expect((await looking).status).toBe(refused);
      expect(performance.now() - begun).toBeLessThan(15_000);
    },
  );

  it('renamed while the change waits for others, is its author by the new name', async () => {
    const id = await addEve();
    const { peer } = router;
    if (peer === undefined) throw new Error('there is no peer');
    peer.delayMs = 300;
    const other = router.rest('PUT', LISTS, { list: 'l', address: '10.0.0.1' });
    await expect.poll(() => peer.prepares).toBeGreaterThan(0);
    const waiting = router.rest('PUT', LISTS, { list: 'l', address: '10.9.9.9' }, eve);
    await sleep(100);
    await router.rest('PATCH', `/user/${id}`, { name: 'eva' });
    await router.rest('PUT', '/user', { name: 'eve', group: 'read', password: PASSWORD });
    expect((await waiting).status).toBe(201);
    await other;
    const { rows } = await router.request('GET', '/api/v1/revisions', undefined, eva);
    expect(rows[0]).toMatchObject({ author: 'eva' });
  });

  it('left alone, is served', async () => {
    const id = await addEve();
    const slow = slowly(eve, LISTS, { list: 'l', address: '10.9.9.9' });
    await slow.begin();
    await router.rest('PATCH', `/user/${id}`, { comment: 'nothing happens to eve' });
    slow.end();
    expect(await slow.status).toBe(201);
  });
});
