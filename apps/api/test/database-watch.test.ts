import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AgentSocket } from '../src/agent/socket.js';
import { buildApp } from '../src/app.js';
import { SetupToken } from '../src/auth/setup-token.js';
import { openDatabase } from '../src/database/client.js';
import { DatabaseFault } from '../src/database/fault.js';
import { descriptorOf } from '../src/database/file.js';
import { DatabaseWatch } from '../src/database/watch.js';
import { PASSWORD, Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

it('a full disk is reported before something could not be written, and while it is', async () => {
  let free = 0;
  const reported: string[] = [];
  const watch = new DatabaseWatch(
    `${router.directory}/tollway.db`,
    router.db,
    ({ kind }) => reported.push(kind),
    () => true,
    () => 3 << 20,
    () => free,
  );
  expect(() => watch.refuseIfFaulty()).toThrow(DatabaseFault);
  await expect.poll(() => reported, { timeout: 60_000 }).toEqual(['full']);
  expect(watch.fault?.text).toMatch(/the disk is full\. Free some space/);
  // The agent keeps the file that it has until it has the next one.
  free = 3 << 20;
  expect(() => watch.refuseIfFaulty()).not.toThrow();
  await expect.poll(() => reported, { timeout: 60_000 }).toEqual(['full', 'no-room']);
  expect(watch.fault?.text).toMatch(
    /has no room beside it for another configuration: the disk is nearly full \(it takes up to 4 MiB\)\. Free some space/,
  );
  free = 1 << 30;
  expect(() => watch.refuseIfFaulty()).not.toThrow();
  await expect.poll(() => watch.fault, { timeout: 60_000 }).toBeUndefined();
  watch.close();
});

it('what could not be written beside it has it tried whether it can be written', async () => {
  let writes = 0;
  const failing = {
    $executeRawUnsafe: () => {
      writes += 1;
      return Promise.reject(new Error('SQLITE_READONLY: attempt to write a readonly database'));
    },
  };
  const reported: string[] = [];
  const file = `${router.directory}/tollway.db`;
  const watch = new DatabaseWatch(file, failing as unknown as typeof router.db, ({ kind }) => reported.push(kind));
  try {
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(writes).toBe(0);
    watch.requestCheck();
    await expect.poll(() => reported, { timeout: 60_000 }).toEqual(['read-only']);
  } finally {
    watch.close();
  }
  const good = new DatabaseWatch(file, router.db, ({ kind }) => reported.push(kind));
  try {
    good.requestCheck();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(good.fault).toBeUndefined();
  } finally {
    good.close();
  }
});

it('a remedy that is not there is not named', async () => {
  const file = `${router.directory}/other.db`;
  copyFileSync(`${router.directory}/tollway.db`, file);
  let copies = true;
  const watch = new DatabaseWatch(
    file,
    router.db,
    () => {},
    () => copies,
  );
  try {
    rmSync(file);
    await expect.poll(() => watch.fault?.text, { timeout: 60_000 }).toMatch(/is gone\. Stop the router .* --restore/);
    copies = false;
    expect(watch.fault?.text).toMatch(/is gone\. Do not stop the router before .* no other copy/);
    expect(() => watch.refuseIfFaulty()).toThrow(
      expect.objectContaining({ remedy: expect.not.stringContaining('--restore') }),
    );
  } finally {
    watch.close();
  }
});

it('what a statement found damaged stays so until the next start, whatever can be written', async () => {
  const watch = new DatabaseWatch(`${router.directory}/tollway.db`, router.db, () => {});
  try {
    watch.recordError(new Error('SQLITE_CORRUPT: database disk image is malformed'));
    // The file is looked at every 2 s.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(watch.fault?.kind).toBe('damaged');
  } finally {
    watch.close();
  }
});

it('that the disk is nearly full hides nothing that is wrong already', async () => {
  const failing = {
    $executeRawUnsafe: () => Promise.reject(new Error('SQLITE_BUSY: database is locked')),
  };
  const watch = new DatabaseWatch(
    `${router.directory}/tollway.db`,
    failing as unknown as typeof router.db,
    () => {},
    () => true,
    () => 3 << 20,
    () => 3 << 20,
  );
  const look = () => new Promise((resolve) => setTimeout(resolve, 5_000));
  try {
    await expect.poll(() => watch.fault?.kind, { timeout: 60_000 }).toBe('no-room');
    watch.recordError(new Error('SQLITE_BUSY: database is locked'));
    await look();
    expect(watch.fault?.kind).toBe('locked');
    watch.recordError(new Error('SQLITE_CORRUPT: database disk image is malformed'));
    await look();
    expect(watch.fault?.kind).toBe('damaged');
  } finally {
    watch.close();
  }
});

const root = process.getuid?.() === 0;

it('a file that nobody may write any more is reported before something could not be written', async () => {
  const file = `${router.directory}/tollway.db`;
  // What root may do is not asked of the file's mode.
  const harm = () => (root ? execFileSync('mount', ['--bind', '-o', 'ro', file, file]) : chmodSync(file, 0o444));
  const mend = () => (root ? execFileSync('umount', [file]) : chmodSync(file, 0o600));
  const reported: string[] = [];
  const watch = new DatabaseWatch(file, router.db, ({ kind }) => reported.push(kind));
  try {
    expect(() => watch.refuseIfFaulty()).not.toThrow();
    harm();
    try {
      expect(() => watch.refuseIfFaulty()).toThrow(/cannot be written: the file or its file system is read-only/);
      await expect.poll(() => reported, { timeout: 60_000 }).toEqual(['read-only']);
      expect(watch.fault?.text).toMatch(/Make it writable; management goes on by itself then/);
    } finally {
      mend();
    }
    await expect.poll(() => watch.fault, { timeout: 60_000 }).toBeUndefined();
  } finally {
    watch.close();
  }
});

it('an application that could not be put together leaves nothing behind that looks at the database', async () => {
  const other = await Router.start({ adminPassword: undefined });
  const file = join(other.directory, 'tollway.db');
  const theirs = openDatabase(`file:${file}`);
  const started = vi.spyOn(globalThis, 'setInterval');
  const ended = vi.spyOn(globalThis, 'clearInterval');
  try {
    const descriptor = descriptorOf(file);
    await theirs.$executeRawUnsafe('BEGIN IMMEDIATE');
    const built = buildApp({
      db: other.db,
      writer: other.writer,
      counts: other.counts,
      accounts: other.accounts,
      databaseFile: file,
      agent: (log) => new AgentSocket(other.socket, log),
      setup: new SetupToken(join(other.directory, 'setup-token')),
      dataDir: other.directory,
      defaults: 'none',
      // It cannot be stored now.
      adminPassword: PASSWORD,
      accountingDays: 400,
      names: [],
      trustedProxies: [],
      webRoot: undefined,
      logLevel: 'silent',
    });
    await expect(built).rejects.toThrow(/locked|timed out/i);
    const timers = started.mock.results.map(({ value }) => value);
    expect(timers).not.toEqual([]);
    expect(ended.mock.calls.map(([timer]) => timer)).toEqual(expect.arrayContaining(timers));
    expect(descriptorOf(file)).toBe(descriptor);
  } finally {
    vi.restoreAllMocks();
    await theirs.$executeRawUnsafe('ROLLBACK');
    await theirs.$disconnect();
    await other.close();
  }
});
