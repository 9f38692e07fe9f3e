import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_RECORDED, record } from '../src/database/audit.js';
import { PASSWORD, Router } from './router.js';

let router: Router;
let cookie = '';
beforeAll(async () => {
  router = await Router.start();
  const login = await router.request('POST', '/api/v1/login', { name: 'admin', password: PASSWORD });
  cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
});
afterAll(() => router.close());

const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
/** Texts of the newest revision, the audit and the log. */
async function reported(): Promise<{ summary: string; audit: string; log: string }> {
  const { rows } = await router.request('GET', '/api/v1/revisions', undefined, { authorization });
  const audit = await router.db.audit.findFirst({ where: { action: 'config' }, orderBy: { id: 'desc' } });
  const log = (await router.rest('GET', '/log')).rows.at(-1)?.message ?? '';
  return { summary: rows[0]?.summary ?? '', audit: audit?.detail ?? '', log };
}
const summary = async (): Promise<string> => (await reported()).summary;
const put = async (path: string, body: object): Promise<string> => {
  const answer = await router.rest('PUT', path, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.id;
};

describe('log, audit and history', () => {
  it('name the item, the properties with old and new values, who it was and by what', async () => {
    const id = await put('/queue/simple', { name: 'lan', target: '10.0.0.0/24', 'max-limit': '10M/10M' });
    const added = `add /queue/simple lan (${id}): target 10.0.0.0/24, max-limit 10M/10M`;
    expect(await reported()).toMatchObject({
      summary: added,
      audit: `${added} via rest`,
      log: expect.stringMatching(/ by admin from 127\.0\.0\.1 via rest \(revision \d+\)$/),
    });
    await router.request(
      'PATCH',
      `/rest/queue/simple/${id}`,
      { 'max-limit': '20M/10M', comment: 'of us' },
      { cookie, 'x-tollway': '1' },
    );
    const set = `set /queue/simple lan (${id}): max-limit 10M/10M → 20M/10M, comment none → "of us"`;
    const { summary, audit, log } = await reported();
    expect(summary).toBe(set);
    expect(audit).toBe(`${set} via web`);
    expect(log).toMatch(`${set} by admin from 127.0.0.1 via web (revision `);
    await router.rest('POST', '/queue/simple/disable', { numbers: 'lan' });
    expect(await reported()).toMatchObject({ summary: `disable /queue/simple lan "of us" (${id}): disabled no → yes` });
    await router.rest('DELETE', `/queue/simple/${id}`);
    expect((await reported()).summary).toBe(
      `remove /queue/simple lan "of us" (${id}): target 10.0.0.0/24, max-limit 20M/10M, disabled yes`,
    );
  });

  it('call rules by what they do and addresses by what they are, and tell where an item was moved', async () => {
    const FILTER = '/ip/firewall/filter';
    const first = await put(FILTER, {
      chain: 'forward',
      action: 'drop',
      comment: 'no web',
      'dst-port': 80,
      protocol: 6,
    });
    const second = await put(FILTER, { chain: 'input' });
    expect(await summary()).toBe(`add ${FILTER} input accept (${second})`);
    await router.rest('POST', `${FILTER}/move`, { numbers: second, destination: first });
    expect(await summary()).toBe(`move ${FILTER} input accept (${second}) to the top`);
    await router.rest('POST', `${FILTER}/move`, { numbers: second });
    expect(await summary()).toBe(`move ${FILTER} input accept (${second}) below ${first}`);
    await router.rest('PATCH', `${FILTER}/${first}`, { '!dst-port': '', disabled: 'yes' });
    expect(await summary()).toMatch(
      new RegExp(`^set ${FILTER} forward drop "no web" \\(\\${first}\\): .*dst-port 80 → none`),
    );
    const address = await put('/ip/address', { address: '10.9.0.1/24', interface: 'ether1' });
    await router.rest('PATCH', '/interface/ether1', { name: 'wan' });
    expect(await summary()).toMatch(/^set \/interface \S* ?\(\*\w+\): name ether1 → wan; 1 that refer to it$/);
    await router.rest('PATCH', '/interface/wan', { name: 'ether1' });
    await router.rest('DELETE', `/ip/address/${address}`);
    expect(await summary()).toBe(`remove /ip/address 10.9.0.1/24 ether1 (${address})`);
    await router.rest('POST', '/system/identity/set', { name: 'edge' });
    expect(await summary()).toMatch(/^set \/system\/identity: name \S+ → edge$/);
  });

  it('are bounded and on one line, whatever the values', async () => {
    const name = 'a'.repeat(64);
    await put('/queue/simple', { name, target: '10.0.0.0/24', comment: 'c'.repeat(500) });
    expect((await summary()).length).toBeLessThan(400);
    const list = Array.from({ length: 300 }, (_, at) => ({ list: 'many', address: `10.1.${at >> 8}.${at & 255}` }));
    expect((await router.rest('PUT', '/ip/firewall/address-list', list)).status).toBe(201);
    expect(await summary()).toMatch(/^add \/ip\/firewall\/address-list 10\.1\.0\.0 many \(.*; 295 more$/);
  });
});

describe('users', () => {
  it('are not called what the router calls itself', async () => {
    const password = 'a long secret 77';
    for (const name of ['system', 'System', 'SYSTEM']) {
      const { status, error } = await router.rest('PUT', '/user', { name, group: 'write', password });
      expect([status, error.detail]).toEqual([400, expect.stringMatching(/^value of name: .*the router itself/)]);
    }
    const id = await put('/user', { name: 'systems', group: 'read', password });
    expect((await router.rest('PATCH', `/user/${id}`, { name: 'SYSTEM' })).status).toBe(400);
  });

  it('are reported with what changed of them, and never their passwords', async () => {
    const password = 'a long secret 77';
    const id = await put('/user', { name: 'bob', group: 'read', password });
    await router.rest('PATCH', `/user/${id}`, { group: 'write', password: `${password}8`, comment: 'helps' });
    const { rows } = await router.rest('GET', '/log');
    const messages = rows.map((row) => row.message ?? '').join('\n');
    expect(messages).toContain('add user bob (read) by admin from 127.0.0.1 via rest');
    expect(messages).toContain('set user bob: group read → write, password changed, comment none → helps by admin');
    expect(messages).not.toContain('a long secret');
    const audit = await router.db.audit.findMany({ where: { action: 'user' } });
    expect(JSON.stringify(audit)).not.toContain('a long secret');
  });
});

it('the audit keeps so many logins and logouts, and so many changes; the oldest go', async () => {
  const row = { user: 'eve', address: '192.0.2.1' };
  const made = { login: MAX_RECORDED + 5, logout: 5, config: 5 };
  for (const [action, count] of Object.entries(made)) {
    const data = Array.from({ length: count }, (_, n) => ({ ...row, action, detail: `old ${n}` }));
    await router.db.audit.createMany({ data });
  }
  // Two kinds in turn, as those of a program that logs in and out: the ids of one are all odd.
  const last = await router.db.audit.findFirst({ orderBy: { id: 'desc' } });
  const kinds = (last?.id ?? 0) % 2 === 0 ? ['login', 'logout'] : ['logout', 'login'];
  for (let n = 0; n < 200; n += 1) await record(router.db, { ...row, action: kinds[n % 2] ?? '', detail: 'new' });
  const count = (action: string) => router.db.audit.count({ where: { action } });
  expect(await count('login')).toBeLessThanOrEqual(MAX_RECORDED + 100);
  expect(await count('login')).toBeGreaterThanOrEqual(MAX_RECORDED);
  expect(await router.db.audit.count({ where: { action: 'login', detail: 'old 0' } })).toBe(0);
  expect(await router.db.audit.count({ where: { action: 'login', detail: 'new' } })).toBe(100);
  for (const action of ['logout', 'config']) expect(await count(action)).toBeGreaterThanOrEqual(5);
});
