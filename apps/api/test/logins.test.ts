import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { networkOf } from '../src/auth/address.js';
import { isCommonPassword } from '../src/auth/common-passwords.js';
import { LoginRateLimiter } from '../src/auth/login-rate-limiter.js';
import { MAX_RECORDED } from '../src/database/audit.js';
import { BUFFER_BYTES } from '../src/logging/memory-buffer.js';
import { RouterLog } from '../src/logging/router-log.js';
import { PASSWORD, Router } from './router.js';

/** Hashes that are being computed, and the most that ever were. */
const hashes = vi.hoisted(() => ({ now: 0, most: 0 }));
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof import('@node-rs/argon2')>();
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    hashes.now += 1;
    hashes.most = Math.max(hashes.most, hashes.now);
    try {
      return await work();
    } finally {
      hashes.now -= 1;
    }
  };
  return {
    hash: (password: string) => counted(() => real.hash(password)),
    verify: (stored: string, password: string) => counted(() => real.verify(stored, password)),
  };
});

let router: Router;
afterEach(() => router.close());

const login = (name = 'admin', password = PASSWORD) => router.request('POST', '/api/v1/login', { name, password });
const FAST = { burst: 1_000, everyMs: 1 };

describe('logins that fail', () => {
  it('are held up when they come too fast, and refused when too many wait', async () => {
    router = await Router.start({
      loginLimits: { address: { burst: 3, everyMs: 4_000 }, maxWaitingPerAddress: 2 },
    });
    for (let n = 0; n < 3; n += 1) expect((await login('eve', `guess ${n}`)).status).toBe(401);
    const started = Date.now();
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => login('eve', `more ${n}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([401, 401, 429, 429, 429, 429]);
    expect(Date.now() - started).toBeGreaterThan(1_000);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ error: 429, message: 'Too Many Requests' });
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('do not hold up a user who has logged in from that address before, also after a restart', async () => {
    router = await Router.start({ loginLimits: { address: { burst: 2, everyMs: 60_000 } } });
    expect((await login()).status).toBe(200);
    for (const restarted of [false, true]) {
      if (restarted) {
        await router.shut();
        await router.open();
      }
      for (let n = 0; n < 2; n += 1) expect((await login('eve', `guess ${n}`)).status).toBe(401);
      expect((await login('eve', 'guess')).status).toBe(429);
      expect((await login()).status).toBe(200);
    }
  });

  it('are one line and one row for the same user and address, and few for many', async () => {
    const wide = { address: FAST, account: FAST, overall: FAST, known: FAST };
    router = await Router.start({ loginLimits: wide });
    const names = Array.from({ length: 60 }, (_, n) => `user ${n}\n\u202e<b>${'x'.repeat(40)}`);
    for (const name of [...names, ...Array(20).fill('admin')]) expect((await login(name, 'wrong')).status).toBe(401);
    const { rows } = await router.rest('GET', '/log');
    const lines = rows.map(({ message = '' }) => message).filter((line) => line.includes('login failure'));
    expect(lines).toHaveLength(20);
    expect(lines[0]).toContain('user 0\\u{a}\\u{202e}<b>');
    expect(lines.join('')).not.toMatch(/[\n\u202e]/);
    await router.shut();
    await router.open();
    const audit = await router.db.audit.findMany({ where: { action: 'login-failed' } });
    expect(audit).toHaveLength(21);
    expect(audit.at(-1)?.detail).toMatch(/^60 more login failures/);
    expect(JSON.stringify(audit).length).toBeLessThan(20_000);
  });

  it('compute at most two hashes at once', async () => {
    router = await Router.start({ loginLimits: { address: FAST, overall: FAST } });
    hashes.most = 0;
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => login(`user${n}`, 'wrong')));
    expect(answers.every(({ status }) => status === 401)).toBe(true);
    expect(hashes.most).toBe(2);
  });

  it('nor when the first unknown user comes while others are looked at', async () => {
    router = await Router.start();
    vi.resetModules();
    const { hashPassword, verifyPassword } = await import('../src/auth/passwords.js');
    const stored = await hashPassword('a password of somebody');
    hashes.most = 0;
    const answers = [stored, stored, undefined, undefined].map((each) => verifyPassword(each, 'wrong'));
    expect(await Promise.all(answers)).toEqual([false, false, false, false]);
    expect(hashes.most).toBe(2);
  });

  it('have so many rows in the audit and no more; the oldest go, and no others', async () => {
    router = await Router.start();
    const row = { user: 'eve', address: '192.0.2.1' };
    await router.db.audit.create({ data: { ...row, action: 'login', detail: 'of somebody' } });
    const old = Array.from({ length: MAX_RECORDED + 5 }, (_, n) => `failure ${n}`);
    await router.db.audit.createMany({ data: old.map((detail) => ({ ...row, action: 'login-failed', detail })) });
    expect((await login('eve', 'wrong')).status).toBe(401);
    const where = { action: 'login-failed' };
    await expect.poll(() => router.db.audit.count({ where }), { timeout: 30_000 }).toBe(MAX_RECORDED);
    expect(await router.db.audit.findFirst({ where, orderBy: { id: 'asc' } })).toMatchObject({ detail: 'failure 6' });
    expect(await router.db.audit.count({ where: { detail: 'of somebody' } })).toBe(1);
  });
});

describe('behind a reverse proxy logins', () => {
  const address = { burst: 2, everyMs: 60_000 };
  const limits = { address, account: FAST, overall: FAST, known: FAST, maxWaitMs: 0 };
  const from = async (client: string, password: string, path = '/api/v1/login') =>
    (await router.request('POST', path, { name: 'admin', password }, { 'x-forwarded-for': client })).status;
  const lastLine = async () => {
    const { rows } = await router.rest('GET', '/log?topics=system,info,account');
    return rows.at(-1)?.message;
  };

  it.each(['127.0.0.1', '::ffff:127.0.0.1'])('are distinguished by what it says (%s)', async (proxy) => {
    router = await Router.start({ loginLimits: limits, trustedProxies: ['192.0.2.1', proxy] });
    for (const status of [401, 401, 429]) expect(await from('203.0.113.7', 'wrong')).toBe(status);
    expect(await from('203.0.113.8', 'wrong')).toBe(401);
    // What stands before the address that the proxy has seen may be anybody's invention.
    expect(await from('198.51.100.1, 203.0.113.7', 'wrong')).toBe(429);
    expect(await from('198.51.100.1, 203.0.113.9', PASSWORD)).toBe(200);
    expect(await lastLine()).toBe('user admin logged in from 203.0.113.9 via web');
    for (const [said, address] of [
      ['203.0.113.10:4711', '203.0.113.10'],
      ['[2001:db8::7]:4711', '2001:db8::7'],
      ['2001:db8::8', '2001:db8::8'],
      ['198.51.100.1, somebody, 203.0.113.11', '203.0.113.11'],
      ['203.0.113.12, somebody', '127.0.0.1'],
      ['', '127.0.0.1'],
    ] as const) {
      expect(await from(said, PASSWORD), said).toBe(200);
      expect(await lastLine(), said).toBe(`user admin logged in from ${address} via web`);
    }
  });

  it.each([[[]], [['192.0.2.1', '::1']]])('are not, when it is nobody that is trusted (%j)', async (trustedProxies) => {
    router = await Router.start({ loginLimits: limits, trustedProxies });
    expect(await from('203.0.113.9', PASSWORD)).toBe(200);
    expect(await lastLine()).toBe('user admin logged in from 127.0.0.1 via web');
  });
});

describe('an address', () => {
  it('is known by a Basic password that was right, also when another address has just given the same', async () => {
    const account = { burst: 1, everyMs: 600_000 };
    const limits = { address: FAST, account, overall: FAST, known: FAST, maxWaitMs: 0 };
    router = await Router.start({ loginLimits: limits, trustedProxies: ['127.0.0.1'] });
    const ask = async (client: string, password = PASSWORD) => {
      const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
      const headers = { authorization, 'x-forwarded-for': client };
      return (await fetch(`${router.url}/rest/system/identity`, { headers })).status;
    };
    for (const client of ['203.0.113.7', '203.0.113.8']) expect(await ask(client)).toBe(200);
    // The tries of others use up what those have who are not known.
    expect(await ask('203.0.113.9', 'wrong')).toBe(401);
    expect(await ask('203.0.113.9', 'wrong')).toBe(429);
    // A password is believed for some time only; then it is a login again.
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 61_000);
    try {
      expect(await ask('203.0.113.8')).toBe(200);
    } finally {
      clock.mockRestore();
    }
  });
});

describe('budgets of logins', () => {
  const limits = {
    address: { burst: 2, everyMs: 60_000 },
    account: { burst: 4, everyMs: 60_000 },
    overall: { burst: 6, everyMs: 60_000 },
    known: { burst: 2, everyMs: 60_000 },
    maxWaitMs: 0,
    maxWaiting: 0,
    maxWaitingPerAddress: 0,
  };
  const outcome = async (rateLimiter: LoginRateLimiter, address: string, user: string) =>
    rateLimiter.begin(address, user).then(
      () => 'tried',
      () => 'refused',
    );

  it('are by address, by user and in all, and one of their own for who is known', async () => {
    router = await Router.start();
    const rateLimiter = new LoginRateLimiter(limits);
    rateLimiter.remember('192.0.2.77', 'admin');
    const tries: [string, string, string][] = [
      ['198.51.100.1', 'a', 'tried'],
      ['198.51.100.1', 'b', 'tried'],
      ['198.51.100.1', 'c', 'refused'],
      ['198.51.100.2', 'admin', 'tried'],
      ['198.51.100.3', 'admin', 'tried'],
      ['198.51.100.4', 'admin', 'tried'],
      ['198.51.100.5', 'admin', 'tried'],
      ['198.51.100.6', 'admin', 'refused'],
      ['198.51.100.7', 'd', 'refused'],
      // Neither is held up by what others did.
      ['192.0.2.77', 'admin', 'tried'],
      ['192.0.2.77', 'admin', 'tried'],
      ['192.0.2.77', 'admin', 'refused'],
      ['127.0.0.1', 'admin', 'tried'],
      // The machine itself has many addresses.
      ...[2, 2, 3, 3, 4].map((n): [string, string, string] => [`127.0.0.${n}`, 'admin', 'tried']),
      ['127.0.0.5', 'admin', 'refused'],
    ];
    for (const [address, user, expected] of tries) {
      expect(await outcome(rateLimiter, address, user), `${address} ${user}`).toBe(expected);
    }
  });

  it('are of a /64 in IPv6', async () => {
    router = await Router.start();
    expect(networkOf('2001:db8::1')).toBe(networkOf('2001:db8:0:0:ffff::2'));
    expect(networkOf('2001:db8:0:1::1')).not.toBe(networkOf('2001:db8::1'));
    expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(networkOf('fe80::1%eth0')).toBe(networkOf('fe80::2%eth0'));
    const rateLimiter = new LoginRateLimiter(limits);
    expect(await outcome(rateLimiter, '2001:db8::1', 'a')).toBe('tried');
    expect(await outcome(rateLimiter, '2001:db8::2', 'b')).toBe('tried');
    expect(await outcome(rateLimiter, '2001:db8::3', 'c')).toBe('refused');
    expect(await outcome(rateLimiter, '2001:db8:0:1::3', 'c')).toBe('tried');
  });

  it('are not used up by who does not wait for the answer', async () => {
    router = await Router.start();
    const rateLimiter = new LoginRateLimiter({ ...limits, maxWaitMs: 1e9, maxWaiting: 1, maxWaitingPerAddress: 1 });
    for (const user of ['a', 'b']) await rateLimiter.begin('192.0.2.1', user);
    const client = new AbortController();
    const waiting = rateLimiter.begin('192.0.2.1', 'c', client.signal);
    await expect(rateLimiter.begin('192.0.2.1', 'd')).rejects.toThrow('too many');
    client.abort();
    await expect(waiting).rejects.toThrow('too many');
    const other = new AbortController();
    const next = rateLimiter.begin('192.0.2.1', 'd', other.signal);
    other.abort();
    await expect(next).rejects.toThrow('try again in 60 s');
  });
});

describe('the log', () => {
  it('is bounded by bytes, and a line stays a line', async () => {
    router = await Router.start();
    const log = new RouterLog({ dataDir: router.directory, echo: () => undefined, firstId: 1 }, new Map());
    for (let n = 0; n < 2_000; n += 1) log.add('system,info', `${n} ${'\u0000'.repeat(7_000_000 / 1_000)}`);
    const held = log.messages();
    expect(held.reduce((sum, { text }) => sum + 2 * text.length, 0)).toBeLessThan(BUFFER_BYTES);
    expect(held.at(-1)?.text.startsWith('1999 \\u{0}')).toBe(true);
    expect(held.at(-1)?.id).toBe(2_000);
    await router.rest('POST', '/log/info', { message: 'one\r\n2026-01-01 system,error forged' });
    const { rows } = await router.rest('GET', '/log');
    expect(rows.at(-1)?.message).toBe('one\\u{d}\\u{a}2026-01-01 system,error forged');
  });
});

describe('lines of the log', () => {
  it('have ids that do not come again after a restart', async () => {
    router = await Router.start();
    await router.rest('POST', '/log/info', { message: 'before' });
    const before = (await router.rest('GET', '/log')).rows.map((row) => row['.id']);
    await router.shut();
    await router.open();
    await login();
    await router.rest('POST', '/log/info', { message: 'after' });
    const after = (await router.rest('GET', '/log')).rows.map((row) => row['.id']);
    expect(before.length).toBeGreaterThan(0);
    expect(after.length).toBeGreaterThan(0);
    expect(after.filter((id) => before.includes(id))).toEqual([]);
  });
});

describe('users', () => {
  it('whose names differ from others only in case or look are refused, and names that not everybody can tell apart', async () => {
    router = await Router.start();
    const add = async (name: string) => {
      const { status, body } = await router.rest('PUT', '/user', { name, group: 'read', password: 'password of it' });
      return { status, body };
    };
    expect((await add('Paul1')).status).toBe(201);
    const names = [
      'ADMIN',
      'Admin',
      'paul1',
      'PaulI',
      'Paull',
      'аdmin',
      'admin\u200b',
      'ａdmin',
      'a b',
      'a\nb',
      '-x',
      'x'.repeat(65),
    ];
    for (const name of names) {
      expect(await add(name), name).toMatchObject({ status: 400, body: { property: 'name' } });
    }
    expect(await router.rest('PATCH', '/user/Paul1', { name: 'aDmin' })).toMatchObject({ status: 400 });
    expect((await router.rest('PATCH', '/user/Paul1', { name: 'paul1', comment: 'x' })).status).toBe(200);
    expect((await add('ann.lee+noc@example-1_x')).status).toBe(201);
  });

  it('know common passwords of every rank', () => {
    const some =
      'password 12345678 123456789 1234567890 football baseball superman trustno1 jennifer corvette mercedes ' +
      'maverick midnight princess computer michelle starwars whatever dolphins scorpion december november ' +
      'redskins 11111111 iloveyou metallica victoria charlie1 samantha kawasaki einstein snowball qwertyuiop';
    expect(some.split(' ').filter((password) => !isCommonPassword(password))).toEqual([]);
    expect(isCommonPassword('correct horse')).toBe(false);
  });

  it('get none of the most common passwords', async () => {
    router = await Router.start();
    for (const password of [
      'password',
      'PASSWORD',
      '12345678',
      'iloveyou',
      'qwertyuiop',
      'Baseball',
      'trustno1',
      '1q2w3e4r',
      'admin123',
      'P@ssw0rd',
      'Administrator1',
      'tollway1',
    ]) {
      const added = await router.rest('PUT', '/user', { name: 'ann', group: 'read', password });
      expect(added, password).toMatchObject({
        status: 400,
        body: { property: 'password', detail: expect.stringMatching(/common/) },
      });
      const set = await router.rest('PATCH', '/user/admin', { password });
      expect(set, password).toMatchObject({ status: 400, body: { property: 'password' } });
    }
    expect((await login()).status).toBe(200);
  });

  it.each([' '.repeat(8), '\t \u3000'.repeat(4), 'xxxxxxxx', '🦊'.repeat(9), '0'.repeat(64)])(
    'are not one character again and again: %j',
    async (password) => {
      router = await Router.start({ adminPassword: undefined });
      const refused = {
        status: 400,
        body: { error: 400, property: 'password', detail: expect.stringMatching(/^password: .*guessed too easily/) },
      };
      const token = (await readFile(join(router.directory, 'setup-token'), 'utf8')).trim();
      expect(await router.request('POST', '/api/v1/setup', { token, password })).toMatchObject(refused);
      expect((await router.request('POST', '/api/v1/setup', { token, password: PASSWORD })).status).toBe(200);
      expect(await router.rest('PUT', '/user', { name: 'ann', group: 'read', password })).toMatchObject(refused);
      expect(await router.rest('PATCH', '/user/admin', { password })).toMatchObject(refused);
    },
  );

  it('the first of which is set up once, also by requests at the same time', async () => {
    router = await Router.start({ adminPassword: undefined });
    const token = (await readFile(join(router.directory, 'setup-token'), 'utf8')).trim();
    const setup = (password: string) => router.request('POST', '/api/v1/setup', { token, password });
    expect(await setup('password')).toMatchObject({ status: 400, body: { property: 'password' } });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => setup(`a good password ${n}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await login('admin', `a good password ${winner}`)).status).toBe(200);
    expect((await setup('another good one')).status).toBe(401);
  });
});
