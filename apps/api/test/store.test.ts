import { afterEach, describe, expect, it } from 'vitest';
import { AgentPeer } from './agent-peer.js';
import { PASSWORD, Router } from './router.js';

let router: Router;
afterEach(() => router.close());

const address = (last: number) => ({ address: `10.2.${last}.1/24`, interface: 'ether1' });

describe('a configuration that the data plane refuses', () => {
  it('is not stored, and the answer names the row', async () => {
    router = await Router.start();
    const peer = router.peer;
    if (peer === undefined) throw new Error('no peer');
    const kept = (await router.rest('PUT', '/ip/address', address(1))).id;
    peer.refuse = ({ addresses }) =>
      addresses.length > 1 ? { message: 'too many', row: addresses[1]?.row ?? 0 } : undefined;
    const answer = await router.rest('PUT', '/ip/address', address(2));
    expect(answer.status).toBe(400);
    expect(answer.error.detail).toMatch(/\*[0-9A-F]+: too many/);
    const { rows: body } = await router.rest('GET', '/ip/address');
    expect(body.map((row) => row['.id'])).toEqual([kept]);
    expect(await router.db.configRow.count({ where: { menu: '/ip/address' } })).toBe(1);
    peer.refuse = undefined;
    expect((await router.rest('PUT', '/ip/address', address(2))).status).toBe(201);
  });
});

describe('a data plane that cannot store a configuration', () => {
  it('is no fault of the change: 503, and nothing is stored', async () => {
    router = await Router.start();
    if (router.peer === undefined) throw new Error('no peer');
    router.peer.refuse = () => ({
      code: 'internal',
      message: 'the data plane cannot store the configuration: disk full',
    });
    const answer = await router.rest('PUT', '/ip/address', address(1));
    expect([answer.status, answer.error.detail]).toEqual([
      503,
      'failure: the data plane cannot store the configuration: disk full; nothing was changed',
    ]);
    expect((await router.rest('GET', '/ip/address')).body).toEqual([]);
  });
});

describe('an agent that is away', () => {
  it('makes writes wait, then fail with nothing stored; reads go on', async () => {
    router = await Router.start();
    await router.peer?.stop();
    await expect.poll(async () => (await router.request('GET', '/healthz')).status, { timeout: 30_000 }).toBe(503);
    const started = Date.now();
    const answer = await router.rest('PUT', '/ip/address', address(1));
    expect(answer.status).toBe(503);
    expect(answer.error.detail).toMatch(/agent/);
    expect(Date.now() - started).toBeGreaterThan(4_000);
    expect((await router.rest('GET', '/ip/address')).body).toEqual([]);
    // What the data plane alone knows is neither guessed nor reported as nothing.
    const [ether1] = (await router.rest('GET', '/interface')).rows;
    expect(ether1).toMatchObject({ name: 'ether1', disabled: 'false' });
    expect(ether1).not.toHaveProperty('running');
    for (const path of ['/ip/firewall/connection', '/ip/settings/fast-path', '/ip/settings/slow-path']) {
      for (const asked of [
        await router.rest('GET', path),
        await router.rest('GET', `${path}/*1`),
        await router.rest('POST', `${path}/print`),
        await router.rest('POST', `${path}/print`, { 'count-only': '' }),
      ]) {
        expect(asked.status, path).toBe(503);
        expect(asked.error.detail, path).toMatch(/agent is not connected/);
      }
    }
    await router.peer?.start();
  });

  it('a write goes through when it comes back in time', async () => {
    router = await Router.start();
    await router.peer?.stop();
    const writing = router.rest('PUT', '/ip/address', address(1));
    setTimeout(() => void router.peer?.start(), 500);
    expect((await writing).status).toBe(201);
    expect(router.peer?.active?.addresses).toHaveLength(1);
  });

  it('gets the newest revision when it comes back without one', async () => {
    router = await Router.start();
    await router.rest('PUT', '/ip/address', address(1));
    const peer = router.peer;
    if (peer === undefined) throw new Error('no peer');
    const revision = peer.revision;
    await peer.stop();
    peer.revision = 0;
    peer.active = undefined;
    await peer.start();
    await expect.poll(() => peer.revision, { timeout: 30_000 }).toBe(revision);
    expect(peer.active).toMatchObject({ addresses: [{ 'prefix-len': 24 }] });
  });

  it('gets the newest revision again when it comes back with other content under its number', async () => {
    router = await Router.start();
    await router.rest('PUT', '/ip/address', address(1));
    const peer = router.peer;
    if (peer?.active === undefined) throw new Error('no peer');
    const { revision, prepares, active } = peer;
    await peer.stop();
    peer.active = { ...active, addresses: [] };
    await peer.start();
    await expect.poll(() => peer.active?.addresses, { timeout: 30_000 }).toHaveLength(1);
    expect([peer.revision, peer.prepares]).toEqual([revision, prepares + 1]);
    await router.healthy();
    // With the same content nothing is sent.
    await peer.stop();
    await peer.start();
    await router.healthy();
    expect(peer.prepares).toBe(prepares + 1);
  });

  it('is not called synced while it has something else in force than it was sent', async () => {
    router = await Router.start();
    const peer = router.peer;
    if (peer === undefined) throw new Error('no peer');
    const { distort } = peer;
    peer.distort = (config) => ({ ...config, addresses: [] });
    await router.rest('PUT', '/ip/address', address(1));
    expect((await router.request('GET', '/healthz')).item.agent).toBe('behind');
    peer.distort = distort;
    await router.rest('PUT', '/ip/address', address(2));
    expect((await router.request('GET', '/healthz')).item.agent).toBe('synced');
    expect(peer.active?.addresses).toHaveLength(2);
  });

  it('ahead of the database is never overwritten', async () => {
    router = await Router.start();
    const peer = router.peer;
    if (peer === undefined) throw new Error('no peer');
    await peer.stop();
    peer.revision = 99;
    await peer.start();
    await expect
      .poll(async () => (await router.request('GET', '/healthz')).item.agent, { timeout: 30_000 })
      .toBe('ahead');
    // It forwards all the same, and nothing else has kept that configuration.
    expect((await router.request('GET', '/healthz')).body).toMatchObject({
      forwarding: true,
      concerns: 'data-plane',
      remedy: expect.stringMatching(
        /^Stop the router and put back the newer database with the folder generations.*--restore/,
      ),
    });
    const answer = await router.rest('PUT', '/ip/address', address(1));
    expect(answer.status).toBe(503);
    expect(answer.error.detail).toMatch(/revision 99.*put back/);
    // Nor does an older database know who may log in now, and with what password.
    for (const [method, path, body] of [
      ['GET', '/rest/ip/address', undefined],
      ['PUT', '/rest/user', { name: 'mal', group: 'full', password: 'staple battery' }],
      ['POST', '/api/v1/login', { name: 'admin', password: PASSWORD }],
      ['GET', '/api/v1/session', undefined],
      // However the path is written.
      ['POST', '/%61pi/v1/login', { name: 'admin', password: PASSWORD }],
      ['GET', '/%61pi/v1/session', undefined],
      ['GET', '/%6detrics', undefined],
    ] as const) {
      expect(await router.request(method, path, body), path).toMatchObject({ status: 503 });
    }
    expect(peer.revision).toBe(99);
  });
});

describe('a restart of the API', () => {
  it('finds everything as it was, ids are never given again', async () => {
    router = await Router.start();
    const a = (await router.rest('PUT', '/ip/address', address(1))).id;
    const b = (await router.rest('PUT', '/ip/address', address(2))).id;
    await router.rest('PATCH', `/ip/address/${a}`, { comment: 'kept' });
    await router.rest('DELETE', `/ip/address/${b}`);
    const before = (await router.rest('GET', '/ip/address')).body;
    const prepares = router.peer?.prepares;
    await router.shut();
    await router.open();
    await router.healthy();
    expect((await router.rest('GET', '/ip/address')).body).toEqual(before);
    expect(router.peer?.prepares).toBe(prepares);
    const c = (await router.rest('PUT', '/ip/address', address(3))).id;
    expect(Number.parseInt(c.slice(1), 16)).toBeGreaterThan(Number.parseInt(b.slice(1), 16));
  });

  it('defaults fill an empty database once', async () => {
    router = await Router.start({ defaults: 'lab' });
    const count = async () => (await router.rest('GET', '/ip/firewall/filter')).rows.length;
    expect(await count()).toBeGreaterThan(4);
    const { rows: body } = await router.rest('GET', '/ip/firewall/filter?.proplist=.id');
    await router.rest('POST', '/ip/firewall/filter/remove', {
      numbers: body.map((row) => row['.id']),
    });
    await router.shut();
    await router.open();
    await router.healthy();
    expect(await count()).toBe(0);
    expect((await router.rest('GET', '/interface/ethernet')).body).toHaveLength(2);
  });
});

describe('many writers at once', () => {
  it('are served one after the other, each with a revision of its own', async () => {
    router = await Router.start();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => router.rest('PUT', '/ip/address', address(n))),
    );
    expect(answers.every((answer) => answer.status === 201)).toBe(true);
    expect(new Set(answers.map((answer) => answer.id)).size).toBe(30);
    const revisions = await router.db.revision.findMany({ orderBy: { number: 'asc' } });
    expect(revisions.map((revision) => revision.number)).toEqual(revisions.map((_, index) => index + 1));
    expect(revisions.every((revision) => revision.parent === revision.number - 1)).toBe(true);
    expect(router.peer?.active?.addresses).toHaveLength(30);
    expect(router.peer?.revision).toBe(revisions.at(-1)?.number);
  });
});

describe('what follows from ports', () => {
  it('is tried again when it could not be stored, and it is said meanwhile that it is not', async () => {
    router = await Router.start({ defaults: 'ports' }, false);
    const peer = new AgentPeer(router.socket);
    const health = async () => (await router.request('GET', '/healthz')).body;
    peer.refuse = () => ({ code: 'internal', message: 'the data plane cannot store the configuration: disk full' });
    await peer.start();
    try {
      await expect.poll(() => peer.prepares, { timeout: 60_000 }).toBeGreaterThan(0);
      await expect.poll(health).toMatchObject({
        status: 'unavailable',
        agent: 'synced',
        problem: expect.stringMatching(/could not be stored/),
      });
      peer.refuse = undefined;
      await router.healthy(30_000);
      expect((await router.rest('GET', '/interface/ethernet')).rows).toHaveLength(2);
      expect((await router.rest('GET', '/ip/address')).rows).toHaveLength(1);
    } finally {
      await peer.stop();
    }
  });

  it('is stored with the default configuration, or not at all', async () => {
    router = await Router.start({ defaults: 'ports' }, false);
    const peer = new AgentPeer(router.socket);
    // As a process that ends after the first of two revisions.
    peer.refuse = ({ addresses }) => (addresses.length > 0 ? { message: 'not these' } : undefined);
    await peer.start();
    try {
      await expect.poll(() => peer.prepares, { timeout: 60_000 }).toBeGreaterThan(0);
      await expect
        .poll(async () => (await router.request('GET', '/healthz')).body)
        .toMatchObject({ agent: 'synced', revision: 0 });
      await router.shut();
      peer.refuse = undefined;
      await router.open();
      await router.healthy();
      expect((await router.rest('GET', '/ip/address')).rows).toHaveLength(1);
      const [found, ...more] = await router.db.revision.findMany();
      expect([found?.summary, more]).toEqual(['ports found: ether1, ether2; default configuration', []]);
    } finally {
      await peer.stop();
    }
  });
});
