import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentPeer } from './agent-peer.js';
import { Client } from './live-client.js';
import { PASSWORD, Router } from './router.js';

/** Writes wait for an agent that is there and does nothing, or dies of them, and for each other; not for ever. */

let router: Router;
let peer: AgentPeer;
beforeEach(async () => {
  router = await Router.start();
  if (router.peer === undefined) throw new Error('no peer');
  peer = router.peer;
});
afterEach(() => router.close());

const address = (last: number) => ({ address: `10.2.${last}.1/24`, interface: 'ether1' });
const put = (last: number) => router.rest('PUT', '/ip/address', address(last));
/** Five seconds, and what a busy machine adds. */
const SOON_MS = 12_000;

async function unchanged(revision: number): Promise<void> {
  expect((await router.rest('GET', '/ip/address')).body).toEqual([]);
  expect(await router.db.configRow.count({ where: { menu: '/ip/address' } })).toBe(0);
  expect((await router.db.revision.findFirst({ orderBy: { number: 'desc' } }))?.number).toBe(revision);
}

describe('an agent that does not answer', () => {
  it('to prepare: all writers get an answer after 5 s, nothing is stored, and it counts as down', async () => {
    const { revision } = peer;
    peer.mute = ['prepare', 'hello'];
    const started = Date.now();
    const answers = await Promise.all([1, 2, 3, 4, 5].map(put));
    const took = Date.now() - started;
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, body: { error: 503, message: 'Service Unavailable' } });
      expect(answer.error.detail).toMatch(/^failure: .*nothing was changed, try again$/);
    }
    // Whichever came first has waited; the others may have come when it was known to be down.
    expect(answers.map((answer) => answer.error.detail)).toContainEqual(
      expect.stringMatching(/the data plane agent did not answer within 5 s/),
    );
    expect(took).toBeGreaterThan(4_000);
    expect(took).toBeLessThan(SOON_MS);
    expect(peer.prepares).toBeLessThan(10);
    await unchanged(revision);
    expect((await router.request('GET', '/healthz')).body).toMatchObject({
      status: 'unavailable',
      agent: 'down',
      concerns: 'data-plane',
      problem: expect.stringMatching(/^The data plane does not answer/),
      remedy: expect.stringMatching(/started again by itself/),
    });
    const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
    expect((await router.request('GET', '/metrics', undefined, { authorization })).status).toBe(503);
    peer.mute = [];
    await router.healthy(30_000);
    expect((await put(9)).status).toBe(201);
  });

  it('to activate: what is stored is answered, and the agent gets it when it answers again', async () => {
    peer.mute = ['activate'];
    const started = Date.now();
    const answer = await put(1);
    expect(Date.now() - started).toBeLessThan(SOON_MS);
    expect(answer.status).toBe(201);
    peer.mute = [];
    await router.healthy(30_000);
    expect(peer.active?.addresses).toHaveLength(1);
  });
});

describe('an agent that is away', () => {
  it('leaves unknown whether items of the data plane are there', async () => {
    await peer.stop();
    await expect.poll(async () => (await router.request('GET', '/healthz')).item.agent).toBe('down');
    for (const [method, path] of [
      ['DELETE', '/ip/firewall/connection/*100000001'],
      ['DELETE', '/ip/arp/*8000000010A000001'],
      ['PATCH', '/ip/arp/*8000000010A000001'],
      ['GET', '/ip/arp/*8000000010A000001'],
    ] as const) {
      const { error } = await router.rest(method, path, method === 'PATCH' ? { comment: 'x' } : undefined);
      expect(error, `${method} ${path}`).toMatchObject({ error: 503, detail: expect.stringMatching(/not connected/) });
    }
    expect((await router.rest('GET', '/ip/arp/*1234')).status).toBe(404);
    await peer.start();
    await router.healthy(30_000);
  });
});

describe('a browser, while the agent is away', () => {
  it.each(['/ip/firewall/connection', '/ip/firewall/address-list', '/ip/arp', '/ip/route', '/ip/settings/fast-path'])(
    'gets a report that items of %s are missing, also of one that it looks at, until it is back',
    async (menu) => {
      const client = await Client.open(router.url);
      const filter = { '.id': '*8000000010A000001' };
      const windows = [{}, { filter }, {}];
      const ask = (id: number) =>
        client.send({ op: 'subscribe', id, topic: 'menu', menu, intervalMs: 200, ...windows[id] });
      /** The member `incomplete` of the newest message of each window. */
      const reported = () => windows.map((_, at) => client.messages.findLast(({ id }) => id === at)?.incomplete);
      const become = (...expected: unknown[]) => expect.poll(reported, { timeout: 60_000 }).toEqual(expected);
      const heard = (id: number) => client.messages.some((message) => message.id === id);
      try {
        ask(0);
        ask(1);
        await expect.poll(() => heard(0) && heard(1), { timeout: 60_000 }).toBe(true);
        await become(undefined, undefined, undefined);
        await peer.stop();
        await become(true, true, undefined);
        ask(2);
        await become(true, true, true);
        await peer.start();
        await become(undefined, undefined, undefined);
      } finally {
        client.socket.close();
      }
    },
  );
});

describe('an agent that hangs', () => {
  it('is noticed without anybody asking for a change', async () => {
    const started = Date.now();
    peer.mute = ['stats', 'hello'];
    await vi.waitFor(
      async () =>
        expect((await router.request('GET', '/healthz')).body).toMatchObject({ agent: 'down', concerns: 'data-plane' }),
      { timeout: 45_000, interval: 250 },
    );
    expect(Date.now() - started).toBeGreaterThan(5_000);
    peer.mute = [];
    await router.healthy(30_000);
  });
});

describe('an agent that dies of a configuration', () => {
  it('is asked a few times and not for ever', async () => {
    const { revision } = peer;
    peer.fatal = ['prepare'];
    const asked = () => peer.asked.filter(({ op }) => op === 'prepare').length;
    const before = asked();
    const started = Date.now();
    const answers = await Promise.all([1, 2, 3].map(put));
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(Date.now() - started).toBeLessThan(SOON_MS);
    expect(asked() - before).toBeLessThan(100);
    await unchanged(revision);
    peer.fatal = [];
    await router.healthy(30_000);
    expect((await put(9)).status).toBe(201);
  });
});
