import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { menuByPath } from '@tollway/schema';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SESSION_MS, Sessions } from '../src/auth/sessions.js';
import { rawRequest } from './raw-request.js';
import { type Answer, PASSWORD, Router } from './router.js';

let router: Router;
afterEach(() => router.close());

const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});
const cookieOf = ({ headers }: Answer) => (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
const login = (name = 'admin', password = PASSWORD) => router.request('POST', '/api/v1/login', { name, password });

describe('without authentication', () => {
  it('only health, login and the session answer', async () => {
    router = await Router.start();
    expect((await router.request('GET', '/healthz')).status).toBe(200);
    const closed: [string, string][] = [
      ['GET', '/rest/system/resource'],
      ['GET', '/rest/no/such'],
      ['PUT', '/rest/user'],
      ['GET', '/%72est/user'],
      ['GET', '//rest/user'],
      ['POST', '/api/v1/logout'],
      ['GET', '/api/v1/revisions'],
      ['GET', '/api/v1/nothing'],
      ['GET', '/docs'],
      ['GET', '/docs/json'],
      ['GET', '/live'],
    ];
    for (const [method, path] of closed) {
      const answer = await router.request(method, path);
      expect([401, 404], `${method} ${path}`).toContain(answer.status);
      if (!path.startsWith('/%') && !path.startsWith('//')) expect(answer.status, `${method} ${path}`).toBe(401);
      if (answer.status === 401) expect(answer.body).toEqual({ error: 401, message: 'Unauthorized' });
    }
    expect(await router.request('GET', '/api/v1/session')).toMatchObject({
      status: 401,
      body: { error: 401, setup: false },
    });
  });

  it('wrong credentials and broken headers are 401', async () => {
    router = await Router.start();
    for (const headers of [
      basic('admin', 'wrong'),
      basic('nobody', PASSWORD),
      { authorization: 'Bearer abc' },
      { authorization: 'Basic !!!' },
      { authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
      { cookie: 'tollway_session=abc' },
    ]) {
      expect(await router.request('GET', '/rest/user', undefined, headers as Record<string, string>)).toMatchObject({
        status: 401,
        body: { error: 401, message: 'Unauthorized' },
      });
    }
  });
});

describe('sessions', () => {
  it('that have ended stay so over a restart, or it is said that the database does not take it yet', async () => {
    router = await Router.start();
    const cookie = cookieOf(await login());
    await router.db.$executeRawUnsafe(
      `CREATE TRIGGER full BEFORE DELETE ON "Session" BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`,
    );
    const logout = await router.request('POST', '/api/v1/logout', undefined, { cookie, 'x-tollway': '1' });
    expect([logout.status, logout.headers.get('set-cookie')]).toEqual([
      503,
      expect.stringMatching(/=;.*Expires=Thu, 01 Jan 1970/),
    ]);
    expect((await router.request('GET', '/api/v1/session', undefined, { cookie })).status).toBe(401);
    await router.db.$executeRawUnsafe('DROP TRIGGER full');
    await expect.poll(() => router.db.session.count(), { timeout: 90_000 }).toBe(0);
  });

  it('begin with login, need the header and the origin for changes, and end with logout', async () => {
    router = await Router.start();
    const answer = await login();
    expect(answer).toMatchObject({ status: 200, body: { name: 'admin', group: 'full' } });
    expect(answer.headers.get('set-cookie')).toMatch(/HttpOnly/);
    expect(answer.headers.get('set-cookie')).toMatch(/SameSite=Strict/);
    const cookie = cookieOf(answer);
    expect((await router.request('GET', '/api/v1/session', undefined, { cookie })).body).toMatchObject({
      name: 'admin',
      group: 'full',
      identity: 'Tollway',
      'time-zone': Intl.DateTimeFormat().resolvedOptions().timeZone,
    });
    const set = (headers: Record<string, string>) =>
      router.request('POST', '/rest/system/identity/set', { name: 'r1' }, { cookie, ...headers });
    expect((await set({})).status).toBe(403);
    expect((await set({ 'x-tollway': '1', origin: 'http://evil.example' })).status).toBe(403);
    expect((await set({ 'x-tollway': '1', origin: router.url })).status).toBe(200);
    expect((await set({ 'x-tollway': '1' })).status).toBe(200);
    // A page that takes itself to be somebody else's: another tab has logged in since.
    expect((await set({ 'x-tollway': '1', 'x-tollway-user': '*2' })).status).toBe(401);
    expect((await set({ 'x-tollway': '1', 'x-tollway-user': '%' })).status).toBe(401);
    // By the id: whoever is renamed stays logged in.
    expect((await set({ 'x-tollway': '1', 'x-tollway-user': '*1' })).status).toBe(200);
    const upgrade = { cookie, connection: 'upgrade', upgrade: 'websocket' };
    expect((await rawRequest(`${router.url}/live?user=*2`, 'GET', upgrade)).status).toBe(401);
    expect((await router.request('POST', '/api/v1/logout', undefined, { cookie, 'x-tollway': '1' })).status).toBe(204);
    expect((await router.request('GET', '/api/v1/session', undefined, { cookie })).status).toBe(401);
  });

  it('survive a restart of the API, and end with a change of the password', async () => {
    router = await Router.start();
    const cookie = cookieOf(await login());
    await router.shut();
    await router.open();
    await router.healthy();
    const session = () => router.request('GET', '/api/v1/session', undefined, { cookie });
    expect((await session()).status).toBe(200);
    expect((await router.rest('PATCH', '/user/admin', { password: 'another horse' })).status).toBe(200);
    expect((await session()).status).toBe(401);
    expect((await router.rest('GET', '/user')).status).toBe(401);
    expect((await router.request('GET', '/rest/user', undefined, basic('admin', 'another horse'))).status).toBe(200);
  });

  it('tokens are stored hashed', async () => {
    router = await Router.start();
    const token = cookieOf(await login()).split('=')[1];
    const rows = await router.db.session.findMany();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.tokenHash).not.toBe(token);
    expect(rows[0]?.tokenHash).toMatch(/^[0-9a-f]{64}$/);
  });
});

it('the last login is one on the page, as its help says', async () => {
  router = await Router.start();
  const last = async () =>
    (await router.request('GET', '/rest/user/admin', undefined, basic('admin', PASSWORD))).item['last-logged-in'];
  expect(await last()).toBeUndefined();
  expect(await last()).toBeUndefined();
  await login();
  expect(await last()).toMatch(/^\d{4}-/);
  expect(menuByPath('/user')?.props['last-logged-in']?.help).toMatch(/on the page.*REST requests.*do not count/);
});

describe('the number of sessions', () => {
  it('of one user is bounded: the oldest end, also in the database, and nobody else’s', async () => {
    const router = await Router.start();
    try {
      const sessions = await Sessions.open(router.db);
      const [user] = await router.db.user.findMany();
      const other = await router.db.user.create({ data: { name: 'other', group: 'read' } });
      const others = await sessions.begin(other.id, '192.0.2.9');
      const tokens: string[] = [];
      const ended: string[] = [];
      sessions.onEnd((key) => ended.push(key));
      for (let count = 0; count < 70; count += 1) tokens.push(await sessions.begin(user?.id ?? 0, '192.0.2.1'));
      expect(tokens.map((token) => sessions.find(token) !== undefined)).toEqual(tokens.map((_, at) => at >= 6));
      expect(ended).toHaveLength(6);
      expect(sessions.find(others)).toBeDefined();
      const again = await Sessions.open(router.db);
      expect(tokens.filter((token) => again.find(token) !== undefined)).toEqual(tokens.slice(6));
    } finally {
      await router.close();
    }
  });

  it('does not grow by those whose time is over', async () => {
    const router = await Router.start();
    try {
      const sessions = await Sessions.open(router.db);
      const [user] = await router.db.user.findMany();
      for (let count = 0; count < 3; count += 1) await sessions.begin(user?.id ?? 0, '192.0.2.1');
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + SESSION_MS });
      await sessions.begin(user?.id ?? 0, '192.0.2.1');
      expect(sessions.list()).toHaveLength(1);
      expect(await router.db.session.count()).toBe(1);
    } finally {
      vi.useRealTimers();
      await router.close();
    }
  });
});

describe('failed logins', () => {
  it('are not those that succeed', async () => {
    router = await Router.start();
    for (let n = 0; n < 40; n += 1) expect((await router.rest('GET', '/system/identity')).status).toBe(200);
    for (let n = 0; n < 30; n += 1) expect((await login()).status).toBe(200);
  });

  it('many first requests of one client with the right password are all answered', async () => {
    router = await Router.start();
    const answers = await Promise.all(Array.from({ length: 40 }, () => router.rest('GET', '/system/identity')));
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));
  });
});

describe('the first password', () => {
  it('is not set with a token that others could have written or read', async () => {
    router = await Router.start({ adminPassword: undefined });
    const file = join(router.directory, 'setup-token');
    const token = (await readFile(file, 'utf8')).trim();
    await router.shut();
    await chmod(file, 0o644);
    await router.open();
    expect((await readFile(file, 'utf8')).trim()).not.toBe(token);
    expect((await router.request('POST', '/api/v1/setup', { token, password: PASSWORD })).status).toBe(401);
  });

  it('is set once with the token from the file, by nobody else', async () => {
    router = await Router.start({ adminPassword: undefined });
    const file = join(router.directory, 'setup-token');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const token = (await readFile(file, 'utf8')).trim();
    expect((await router.request('GET', '/api/v1/session')).error.setup).toBe(true);
    expect((await login('admin', '')).status).toBe(401);
    const setup = (body: object) => router.request('POST', '/api/v1/setup', body);
    expect((await setup({ token: 'f'.repeat(32), password: PASSWORD })).status).toBe(401);
    // Somebody may have the link of before a crash of the API.
    await router.shut();
    await router.open();
    expect((await readFile(file, 'utf8')).trim()).toBe(token);
    expect(await setup({ token, password: 'short' })).toMatchObject({ status: 400, body: { property: 'password' } });
    const done = await setup({ token, password: PASSWORD });
    expect(done.status).toBe(200);
    expect((await router.request('GET', '/api/v1/session', undefined, { cookie: cookieOf(done) })).status).toBe(200);
    expect((await setup({ token, password: 'something else' })).status).toBe(401);
    await expect(stat(file)).rejects.toThrow('ENOENT');
    expect((await login()).status).toBe(200);
  });
});

describe('groups', () => {
  it('read looks, write changes the configuration, only full changes users', async () => {
    router = await Router.start();
    for (const group of ['read', 'write']) {
      const added = await router.rest('PUT', '/user', { name: group, group, password: 'password of it' });
      expect(added).toMatchObject({ status: 201, body: { name: group, group } });
      expect(JSON.stringify(added.body)).not.toMatch(/password|argon2/);
    }
    const as = (name: string, method: string, path: string, body?: object) =>
      router.request(method, `/rest${path}`, body, basic(name, 'password of it'));
    const denied = { status: 403, body: { error: 403, message: 'Forbidden', detail: 'not enough permissions' } };
    expect((await as('read', 'GET', '/ip/address')).status).toBe(200);
    expect((await as('read', 'POST', '/ip/address/print', {})).status).toBe(200);
    expect(await as('read', 'POST', '/system/identity/set', { name: 'x' })).toMatchObject(denied);
    expect(await as('read', 'PUT', '/ip/address', {})).toMatchObject(denied);
    expect((await as('write', 'POST', '/system/identity/set', { name: 'x' })).status).toBe(200);
    expect(await as('write', 'PUT', '/user', {})).toMatchObject(denied);
    expect(await as('write', 'DELETE', '/user/admin')).toMatchObject(denied);
  });

  it('the last user who may do everything stays', async () => {
    router = await Router.start();
    expect((await router.rest('DELETE', '/user/admin')).status).toBe(400);
    for (const property of ['group', 'disabled']) {
      const change = { [property]: property === 'group' ? 'read' : 'yes' };
      expect(await router.rest('PATCH', '/user/admin', change)).toMatchObject({ status: 400, body: { property } });
    }
    expect((await router.rest('POST', '/user/disable', { numbers: 'admin' })).status).toBe(400);
    await router.rest('PUT', '/user', { name: 'other', group: 'full', password: 'password of it' });
    expect((await router.rest('DELETE', '/user/other')).status).toBe(204);
    expect(
      await router.rest('PUT', '/user', { name: 'admin', group: 'full', password: 'password of it' }),
    ).toMatchObject({
      status: 400,
      body: { property: 'name' },
    });
  });

  it('the last users who may do everything stay, also when several are changed by one command or at once', async () => {
    router = await Router.start();
    await router.rest('PUT', '/user', { name: 'other', group: 'full', password: 'password of it' });
    const refused = { status: 400, body: { detail: expect.stringContaining('the last user of group full') } };
    expect(await router.rest('POST', '/user/disable', { numbers: 'admin,other' })).toMatchObject(refused);
    expect(await router.rest('POST', '/user/set', { numbers: 'admin,other', group: 'read' })).toMatchObject(refused);
    expect(await router.rest('POST', '/user/remove', { numbers: 'admin,other' })).toMatchObject(refused);
    const answers = await Promise.all(['admin', 'other'].map((name) => router.rest('DELETE', `/user/${name}`)));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(await router.db.user.count({ where: { group: 'full' } })).toBe(1);
  });

  it('a name is given once, and is one that Basic authentication can carry', async () => {
    router = await Router.start();
    const add = (name: string) => router.rest('PUT', '/user', { name, group: 'read', password: 'password of it' });
    const answers = await Promise.all([add('ann'), add('ann'), add('ann')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    await add('bob');
    expect(await router.rest('POST', '/user/set', { numbers: 'ann,bob', name: 'carl' })).toMatchObject({
      status: 400,
      body: { property: 'name' },
    });
    expect(await add('a:b')).toMatchObject({ status: 400, body: { property: 'name' } });
  });

  it('everybody may change their own password, who knows it', async () => {
    router = await Router.start();
    const [first, second] = ['password of ann', 'another of hers'] as const;
    await router.rest('PUT', '/user', { name: 'ann', group: 'read', password: first });
    const change = (old: string, next: string, again = next, password: string = first) => {
      const body = { 'old-password': old, 'new-password': next, 'confirm-new-password': again };
      return router.request('POST', '/rest/password', body, basic('ann', password));
    };
    const cookie = cookieOf(await login('ann', first));
    const refused = (property: string) => ({ status: 400, body: { error: 400, property } });
    expect(await change('not hers', second)).toMatchObject(refused('old-password'));
    expect(await change(first, second, 'a third one')).toMatchObject(refused('confirm-new-password'));
    expect(await change(first, 'short')).toMatchObject(refused('new-password'));
    expect(await change(first, 'password')).toMatchObject(refused('new-password'));
    const some = await router.request('POST', '/rest/password', { 'new-password': second }, basic('ann', first));
    expect(some).toMatchObject(refused('old-password'));
    expect((await login('ann', first)).status).toBe(200);
    expect(await change(first, second)).toMatchObject({ status: 200, body: [] });
    expect((await login('ann', first)).status).toBe(401);
    expect((await login('ann', second)).status).toBe(200);
    expect((await router.request('GET', '/api/v1/session', undefined, { cookie })).status).toBe(401);
    expect(await change(second, first, first, second)).toMatchObject({ status: 200 });
    expect((await router.rest('GET', '/user/ann')).item).toMatchObject({
      name: 'ann',
      group: 'read',
      disabled: 'false',
    });
    const messages = (await router.rest('GET', '/log')).rows.map(({ message = '' }) => message).join('\n');
    expect(messages).toContain('set user ann: password changed by ann from 127.0.0.1 via rest');
    expect(messages).toContain('login failure for user ann');
    expect(messages).not.toMatch(/password of ann|another of hers/);
  });

  it('a change of the own password is no way to find out the old one', async () => {
    router = await Router.start({ loginLimits: { maxWaitMs: 1_000 } });
    await router.rest('PUT', '/user', { name: 'ann', group: 'read', password: 'password of ann' });
    const cookie = cookieOf(await login('ann', 'password of ann'));
    const body = { 'old-password': 'x', 'new-password': 'another one', 'confirm-new-password': 'another one' };
    const tries = Array.from({ length: 40 }, () =>
      router.request('POST', '/rest/password', body, { cookie, 'x-tollway': '1' }),
    );
    const answers = (await Promise.all(tries)).map(({ status }) => status);
    expect(answers.filter((status) => status === 429).length).toBeGreaterThan(20);
    expect(answers.filter((status) => status === 400).length).toBeGreaterThan(0);
  });

  it('changes that the database cannot hold as a whole are not made at all', async () => {
    router = await Router.start();
    const [first, second] = ['password of ann', 'another of hers'];
    const add = (name: string) => router.rest('PUT', '/user', { name, group: 'write', password: first });
    for (const name of ['ann', 'bob']) await add(name);
    const cookie = cookieOf(await login('ann', first));
    // The second line of the audit finds the disk full.
    await router.db.$executeRawUnsafe(`CREATE TRIGGER "full" BEFORE INSERT ON "Audit"
      WHEN new."detail" NOT LIKE '%user ann%' BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`);
    const before = (await router.rest('GET', '/user')).rows;
    const both = { numbers: 'ann,bob' };
    const answers = [
      await add('carl'),
      await router.rest('POST', '/user/set', { ...both, group: 'read' }),
      await router.rest('POST', '/user/set', { ...both, password: second }),
      await router.rest('POST', '/user/disable', both),
      await router.rest('POST', '/user/remove', both),
    ];
    expect(answers.map(({ status }) => status)).toEqual([500, 500, 500, 500, 500]);
    expect((await router.rest('GET', '/user')).rows).toEqual(before);
    expect((await router.request('GET', '/api/v1/session', undefined, { cookie })).status).toBe(200);
    expect((await router.request('GET', '/rest/user/ann', undefined, basic('ann', first))).status).toBe(200);
    await router.db.$executeRawUnsafe('DROP TRIGGER "full"');
    await router.shut();
    await router.open();
    await router.healthy();
    expect((await router.rest('GET', '/user')).rows.map(({ name, group }) => `${name} ${group}`)).toEqual([
      'admin full',
      'ann write',
      'bob write',
    ]);
    expect((await router.rest('POST', '/user/remove', both)).status).toBe(200);
    expect((await router.request('GET', '/api/v1/session', undefined, { cookie })).status).toBe(401);
  });

  it('a disabled user is out at once', async () => {
    router = await Router.start();
    await router.rest('PUT', '/user', { name: 'ann', group: 'write', password: 'password of it' });
    const get = () => router.request('GET', '/rest/ip/address', undefined, basic('ann', 'password of it'));
    const cookie = cookieOf(await login('ann', 'password of it'));
    expect((await get()).status).toBe(200);
    await router.rest('PATCH', '/user/ann', { disabled: 'yes' });
    expect((await get()).status).toBe(401);
    expect((await router.request('GET', '/api/v1/session', undefined, { cookie })).status).toBe(401);
  });
});

describe('headers', () => {
  it('forbid framing, sniffing and foreign content', async () => {
    router = await Router.start();
    const { headers } = await router.request('GET', '/healthz');
    expect(headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
  });

  it('are guarded also where the path cannot be decoded', async () => {
    router = await Router.start();
    const { status, headers } = await fetch(`${router.url}/rest/%zz`);
    expect(status).toBe(400);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toContain("default-src 'self'");
  });
});
