import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  ask,
  comments,
  database,
  databaseOfAnother,
  eachWithItsFolder,
  FILTER,
  healthy,
  output,
  peer,
  refusesWith,
  restoring,
  setUp,
  spawnNow,
  start,
  stop,
  url,
} from './api-process.js';
import { rawRequest } from './raw-request.js';
import { PASSWORD } from './router.js';

/** Databases that go, or are others, while the router runs or as it is set up. */

eachWithItsFolder();

describe('a database that is lost while the router runs', () => {
  beforeEach(async () => {
    await setUp();
    await start();
    await healthy();
  });

  it.each([
    ['deleted', () => rmSync(database()), /is gone/],
    ['emptied', () => writeFileSync(database(), ''), /is empty/],
    ['overwritten', () => writeFileSync(database(), 'x'.repeat(50_000)), /is damaged/],
    ['without its log', () => rmSync(`${database()}-wal`), /has lost the file that its last changes are in/],
  ])('%s: nothing is stored that would be lost, the rest goes on', async (_, harm, problem) => {
    const { revision } = peer;
    harm();
    const { status, body } = await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept' });
    expect(status).toBe(503);
    expect(body).toMatchObject({ error: 503, detail: expect.stringMatching(problem) });
    expect(JSON.stringify(body)).toMatch(/Nothing was changed; forwarding goes on/);
    const user = { name: 'lost', group: 'full', password: 'staple battery' };
    expect(await ask('PUT', '/rest/user', user)).toMatchObject({
      status: 503,
      body: { detail: body && Object(body).detail },
    });
    expect(peer.revision).toBe(revision);
    await expect
      .poll(async () => (await ask('GET', '/healthz')).body, { timeout: 60_000 })
      .toMatchObject({
        status: 'unavailable',
        forwarding: true,
        problem: expect.stringMatching(problem),
        remedy: expect.stringContaining('npm start -- --restore'),
      });
    expect(await comments()).toContain('mine');
    await stop('SIGKILL');
    expect(restoring().code).toBe(0);
    await start();
    await healthy();
    expect(await comments()).toContain('mine');
  });
});

it('a database that is lost in the first run of a router can be restored, and it says so', async () => {
  await start();
  await healthy();
  expect((await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', comment: 'mine' })).status).toBe(
    201,
  );
  rmSync(database());
  await expect
    .poll(async () => Object((await ask('GET', '/healthz')).body).remedy, { timeout: 60_000 })
    .toMatch(/npm start -- --restore/);
  await stop('SIGKILL');
  expect(restoring().code).toBe(0);
  await start();
  await healthy();
  expect(await comments()).toContain('mine');
});

it('a first start that ended before the agent had come is gone on with, and so is one without any port', async () => {
  await peer.stop();
  const more = { TOLLWAY_DEFAULTS: 'ports' };
  await start(more);
  await stop();
  await start(more);
  expect((await ask('GET', `/rest${FILTER}`)).body).toEqual([]);
  await stop();
  const ports = peer.ports.splice(0);
  await peer.start();
  await start(more);
  await healthy();
  await stop('SIGKILL');
  peer.ports.push(...ports);
  await start(more);
  await healthy();
  expect(await comments()).toEqual(expect.arrayContaining([expect.stringMatching(/^defconf: /)]));
});

it('a router that was restored from before its first revision gets the default configuration', async () => {
  await peer.stop();
  const more = { TOLLWAY_DEFAULTS: 'ports' };
  await start(more);
  await stop();
  expect(restoring().code).toBe(0);
  await peer.start();
  await start(more);
  await healthy();
  expect(await comments()).toEqual(expect.arrayContaining([expect.stringMatching(/^defconf: /)]));
});

it('a database of another router that is put in its place while the router runs is not touched', async () => {
  await setUp();
  const other = await databaseOfAnother();
  await start();
  await healthy();
  const before = readFileSync(other);
  renameSync(other, database());
  for (const [method, path, body] of [
    ['PUT', '/rest/user', { name: 'lost', group: 'full', password: 'staple battery' }],
    [
      'POST',
      '/rest/password',
      { 'old-password': PASSWORD, 'new-password': 'staple battery', 'confirm-new-password': 'staple battery' },
    ],
    ['PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept' }],
  ] as const) {
    expect([path, (await ask(method, path, body)).status]).toEqual([path, 503]);
  }
  expect((await ask('GET', '/rest/user?.proplist=name')).body).toEqual([{ name: 'admin' }]);
  await stop('SIGKILL');
  expect(readFileSync(database()).equals(before)).toBe(true);
  await start();
  await refusesWith(/is not that of this router/, /--restore/);
});

it('a database that others read while the router runs loses nothing', async () => {
  await setUp();
  await start();
  await healthy();
  // The database has been looked at meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const script = `
    const { createClient } = await import('@libsql/client');
    const client = createClient({ url: ${JSON.stringify(`file:${database()}`)} });
    await client.execute('SELECT count(*) FROM "ConfigRow"');
    client.close();`;
  const { status, stderr } = spawnNow(['--input-type=module', '--eval', script]);
  expect(status, stderr).toBe(0);
  const later = { chain: 'forward', action: 'accept', comment: 'later' };
  expect((await ask('PUT', `/rest${FILTER}`, later)).status).toBe(201);
  await stop('SIGKILL');
  await start();
  await healthy();
  expect(await comments()).toContain('later');
});

it('words of a request are not taken for errors of the database', async () => {
  await setUp();
  await start();
  await healthy();
  for (const [status, headers] of [
    [421, { host: 'EIO' }],
    [403, { origin: 'http://database is locked' }],
  ] as const) {
    expect((await rawRequest(`${url}/healthz`, 'GET', headers)).status).toBe(status);
    expect((await ask('GET', '/healthz')).status).toBe(200);
  }
  const wrong = await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', 'disk is full': 'ENOSPC' });
  expect(wrong.status).toBe(400);
  expect((await ask('GET', '/healthz')).status).toBe(200);
  expect(output).not.toMatch(/The database/);
});
