import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../src/database/client.js';
import {
  ask,
  comments,
  database,
  directory,
  eachWithItsFolder,
  FILTER,
  healthy,
  peer,
  refusesWith,
  restoring,
  setUp,
  start,
  stop,
} from './api-process.js';
import { inSoak } from './soak.js';

/** Tests of `--restore`: what it gives back, and when it asks first. */

eachWithItsFolder();

/** `.id` of the item in an answer. */
const idOf = ({ body }: { body: unknown }): unknown => Object(body)['.id'];

describe('--restore', () => {
  beforeEach(setUp);

  it('rebuilds a damaged database with the users, and keeps the old one', async () => {
    const rules = peer.active?.filter;
    for (const end of ['-wal', '-shm']) rmSync(database() + end, { force: true });
    writeFileSync(database(), 'x'.repeat(50_000));
    const { code, stdout, stderr } = restoring();
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^restored generation \d+ of .* \(add .*\) as revision \d+; .* is kept as \S+\.aside\n$/);
    const aside = readdirSync(directory).find((name) => name.endsWith('.aside'));
    expect(readFileSync(join(directory, aside ?? ''), 'utf8')).toBe('x'.repeat(50_000));
    // Whoever was interrupted then gives the same command again.
    const again = restoring();
    expect([again.code, again.stderr]).toEqual([0, '']);
    await start({ TOLLWAY_ADMIN_PASSWORD: 'another password' });
    await healthy();
    expect(await comments()).toContain('mine');
    expect(peer.active?.filter).toEqual(rules);
    const added = await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept' });
    expect(added.status).toBe(201);
  });

  it('goes back to an earlier generation, and keeps what queues carried', async () => {
    const { revision } = peer;
    await start();
    await healthy();
    const later = await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', comment: 'later' });
    await stop();
    const db = openDatabase(`file:${database()}`);
    await db.queueDay.create({
      data: { row: 7, day: '2026-11-22', menu: '/queue/simple', name: 'q', upload: 5n, download: 6n },
    });
    await db.$disconnect();
    expect(restoring('9999').stderr).toMatch(/^There is no generation 9999 in .*; there are .* to \d+\.\n$/);
    expect(restoring(String(revision)).code).toBe(0);
    await start();
    await healthy();
    const found = await comments();
    expect(found).toContain('mine');
    expect(found).not.toContain('later');
    expect(peer.revision).toBeGreaterThan(revision + 1);
    // The history says what that did, and no id stands for two rows.
    const { body: reported } = await ask('GET', `/api/v1/revisions/${peer.revision}`);
    expect(reported).toMatchObject({ rows: 1, changes: [{ menu: FILTER, action: 'remove', '.id': idOf(later) }] });
    const fresh = await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept' });
    expect(idOf(fresh)).not.toBe(idOf(later));
    await stop();
    const kept = openDatabase(`file:${database()}`);
    expect(await kept.queueDay.count()).toBe(1);
    await kept.$disconnect();
  });

  it('takes nothing from the log of a database that is gone', async () => {
    const { revision } = peer;
    await start();
    await healthy();
    await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', comment: 'later' });
    await stop('SIGKILL');
    rmSync(database());
    expect(statSync(`${database()}-wal`).size).toBeGreaterThan(0);
    expect(restoring(String(revision))).toMatchObject({ code: 0, stderr: '' });
    await start();
    await healthy();
    const found = await comments();
    expect(found).toContain('mine');
    expect(found).not.toContain('later');
    const db = openDatabase(`file:${database()}`);
    expect(await db.$queryRawUnsafe('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    await db.$disconnect();
  });

  it('reaches what was before many starts', async () => {
    const { revision } = peer;
    for (const comment of ['a', 'b', 'c', 'd', 'e']) {
      await start();
      await healthy();
      await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', comment });
      await stop();
    }
    expect(peer.revision).toBe(revision + 5);
    expect(restoring('9999').stderr).toMatch(
      new RegExp(`^There is no generation 9999 in .*; there are \\d+ to ${revision + 5}\\.\n$`),
    );
    expect(restoring(String(revision + 1)).code).toBe(0);
    await start();
    await healthy();
    const found = await comments();
    expect(found).toContain('a');
    expect(found).not.toContain('b');
  });

  it('keeps the ids of users, and gives none a second time', async () => {
    await start();
    await healthy();
    const add = async (name: string) =>
      idOf(await ask('PUT', '/rest/user', { name, group: 'read', password: 'a password of theirs' }));
    const ids = [await add('first'), await add('second'), await add('third'), await add('fourth')];
    for (const name of ['first', 'fourth']) expect((await ask('DELETE', `/rest/user/${name}`)).status).toBe(204);
    await stop();
    expect(restoring().code).toBe(0);
    await start();
    await healthy();
    const { body } = await ask('GET', '/rest/user?.proplist=name,.id');
    expect(body).toEqual([
      { '.id': '*1', name: 'admin' },
      { '.id': ids[1], name: 'second' },
      { '.id': ids[2], name: 'third' },
    ]);
    expect(ids).not.toContain(await add('fifth'));
  });

  it('of an earlier generation gives nobody back who may not log in any more', async () => {
    await start();
    await healthy();
    const { revision } = peer;
    const left = { name: 'left', group: 'full', password: 'a password of one who left' };
    expect((await ask('PUT', '/rest/user', left)).status).toBe(201);
    await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept', comment: 'later' });
    await stop();
    await start();
    await healthy();
    expect((await ask('DELETE', '/rest/user/left')).status).toBe(204);
    await stop();
    expect(restoring(String(revision)).code).toBe(0);
    await start();
    await healthy();
    expect(await comments()).not.toContain('later');
    expect((await ask('GET', '/rest/user?.proplist=name')).body).toEqual([{ name: 'admin' }]);
  });

  it('asks for the number while the last file is torn at its end, and rows are private', async () => {
    const folder = join(directory, 'generations');
    const names = readdirSync(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const [name = ''] = names.sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10));
    writeFileSync(join(folder, name), `${readFileSync(join(folder, name), 'utf8')}0123456789abcdef {"kind":"chan`);
    rmSync(database());
    const refused = restoring();
    expect(refused.code).toBe(1);
    const number = /^What was kept last is damaged \(.+\.rows\).* --restore (\d+)\n$/.exec(refused.stderr)?.[1];
    expect(restoring('--check')).toEqual(refused);
    // Who orders a restore gets the number at once.
    await start();
    const { body } = await ask('GET', '/healthz');
    expect(body).toMatchObject({
      remedy: expect.stringMatching(
        new RegExp(
          `\\(npm start -- --restore ${number}\\): that rebuilds the database from revision ${number}, the last of`,
        ),
      ),
    });
    await stop();
    expect(restoring(number ?? '')).toMatchObject({ code: 0, stdout: expect.stringContaining('users are those of') });
    await start();
    await healthy();
    expect(await comments()).toContain('mine');
  });

  it('asks for the number when the newest file is gone and the database knows of more', async () => {
    await start();
    await healthy();
    const user = { name: 'gone', group: 'full', password: 'staple battery' };
    const id = idOf(await ask('PUT', '/rest/user', user));
    await stop();
    await start();
    await healthy();
    expect((await ask('DELETE', `/rest/user/${id}`)).status).toBe(204);
    expect((await ask('PUT', `/rest${FILTER}`, { chain: 'forward', action: 'accept' })).status).toBe(201);
    await stop();
    const folder = join(directory, 'generations');
    const newest = readdirSync(folder).sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10))[0] ?? '';
    rmSync(join(folder, newest));
    const refused = restoring();
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/missing .*, and who may log in since/)]);
    expect(existsSync(database())).toBe(true);
    const { code, stdout } = restoring(/--restore (\d+)\n$/.exec(refused.stderr)?.[1] ?? '');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/users are those of the newest/)]);
  });

  it('asks for the number when users were changed while no copies could be kept', async () => {
    for (const end of ['', '-wal', '-shm']) rmSync(database() + end, { force: true });
    writeFileSync(join(directory, 'users.changes'), '99\n');
    const { code, stderr } = restoring();
    expect(code).toBe(1);
    const asked = /users may have been changed since.* go back to revision (\d+) and the users of that time/.exec(
      stderr,
    );
    expect(asked, stderr).not.toBeNull();
    expect(restoring(asked?.[1] ?? '').code).toBe(0);
    await start();
    await healthy();
    expect(readFileSync(join(directory, 'users.changes'), 'utf8')).toBe('100\n');
  });

  it.each(['', '9007199254740991\n', ...inSoak('99999999999999999999999999\n', 'x')])(
    'asks for the number when it is damaged how often users were changed (%j)',
    async (text) => {
      writeFileSync(join(directory, 'users.changes'), text);
      const { code, stderr } = restoring();
      const number = /users may have been changed since.* --restore (\d+)\n$/.exec(stderr)?.[1];
      expect([code, number], stderr).toEqual([1, expect.any(String)]);
      expect(restoring(number ?? '').code).toBe(0);
      await start();
      await healthy();
      const user = { name: `after${text.length}`, group: 'full', password: 'staple battery' };
      expect((await ask('PUT', '/rest/user', user)).status).toBe(201);
      expect(readFileSync(join(directory, 'users.changes'), 'utf8')).toMatch(/^\d{1,9}\n$/);
    },
  );

  it('asks for the number when an older copy of the copies is in their place', async () => {
    await start();
    await healthy();
    const folder = join(directory, 'generations');
    const user = { name: 'gone', group: 'full', password: 'staple battery' };
    const id = idOf(await ask('PUT', '/rest/user', user));
    cpSync(folder, `${folder}.older`, { recursive: true });
    expect((await ask('DELETE', `/rest/user/${id}`)).status).toBe(204);
    await stop();
    rmSync(folder, { recursive: true });
    renameSync(`${folder}.older`, folder);
    for (const end of ['', '-wal', '-shm']) rmSync(database() + end, { force: true });
    const { code, stderr } = restoring();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/users may have been changed since.* --restore \d+\n$/)]);
  });

  it('goes back to the time before the first change as well, when that is what is left', () => {
    const folder = join(directory, 'generations');
    const first = readdirSync(folder).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))[0] ?? '';
    for (const name of readdirSync(folder)) if (name !== first) rmSync(join(folder, name));
    expect(first).toBe('0.rows');
    expect(restoring('0')).toMatchObject({ code: 0, stdout: expect.stringContaining('restored generation 0 ') });
  });

  it.each([
    ['the data folder', () => directory],
    ['the database', database],
  ])('is refused beforehand while %s is immutable', (_, immutable) => {
    const made = () => readdirSync(directory).filter((name) => /restored|aside/.test(name));
    expect(restoring('--check')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(made()).toEqual([]);
    execFileSync('chattr', ['+i', immutable()]);
    try {
      expect(restoring('--check')).toMatchObject({ code: 1, stderr: expect.stringMatching(/nothing was changed/) });
    } finally {
      execFileSync('chattr', ['-i', immutable()]);
    }
    expect(made()).toEqual([]);
  });

  it('says so when there is nothing to restore', () => {
    rmSync(join(directory, 'generations'), { recursive: true });
    const { code, stderr } = restoring();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^There is nothing to restore: \S+ holds no generation\.\n$/);
    expect(existsSync(database())).toBe(true);
  });

  it('is not what to do about a damaged database when there is nothing to restore', async () => {
    rmSync(join(directory, 'generations'), { recursive: true });
    writeFileSync(database(), 'junk');
    await start();
    await refusesWith(/is damaged/, /^Put back the database or the folder generations(?!.*--restore)/);
  });
});
