import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  Generations,
  generationsFolder,
  newestKept,
  predatesFullUsers,
  recordedUserChanges,
} from '../../src/generations/generations.js';
import type { KeptUser } from '../../src/generations/rows-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollway-generations-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

it('writes the users of now as soon as the disk takes them again, without another change', async () => {
  let users: KeptUser[] = [user('admin'), user('eve')];
  const log = vi.fn();
  const store = { revision: 1, lastId: 1, snapshot: new Map() };
  // Something else stands where the folder should be.
  writeFileSync(generationsFolder(folder), '');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const generations = new Generations(folder, {
    database: 'a',
    store,
    users: () => ({ users, changes: users.length }),
    log,
  });
  try {
    await generations.begin();
    expect(generations.problem).toMatch(/^A copy of the configuration cannot be kept/);
    users = [user('admin')];
    generations.usersChanged();
    vi.advanceTimersByTime(60_000);
    await vi.waitUntil(() => vi.getTimerCount() > 0);
    expect(log).toHaveBeenCalledTimes(1);

    rmSync(generationsFolder(folder));
    vi.advanceTimersByTime(6_000);
    vi.useRealTimers();
    await expect.poll(() => generations.problem, { timeout: 15_000 }).toBeUndefined();
    expect(newestKept(folder)?.users.users.map(({ name }) => name)).toEqual(['admin']);
  } finally {
    generations.close();
  }
});

it('begins anew with the next change when the folder is gone, or another file stands in the place of its own', async () => {
  let users: KeptUser[] = [user('admin')];
  const generations = new Generations(folder, {
    database: 'a',
    store: { revision: 1, lastId: 1, snapshot: new Map() },
    users: () => ({ users, changes: users.length }),
    log: vi.fn(),
  });
  const kept = () => newestKept(folder)?.users.users.map(({ name }) => name);
  try {
    await generations.begin();
    rmSync(generationsFolder(folder), { recursive: true });
    users = [...users, user('eve')];
    generations.usersChanged();
    await expect.poll(kept).toEqual(['admin', 'eve']);
    const file = join(generationsFolder(folder), '1.rows');
    renameSync(file, `${file}.moved`);
    writeFileSync(file, '');
    users = [user('eve')];
    generations.usersChanged();
    await expect.poll(kept).toEqual(['eve']);
    users = [user('admin')];
    generations.usersChanged();
    expect(kept()).toEqual(['admin']);
  } finally {
    generations.close();
  }
});

it('says beside the folder how often users were changed, also while nothing can be kept', async () => {
  let users: KeptUser[] = [user('admin'), user('eve')];
  const generations = new Generations(folder, {
    database: 'a',
    store: { revision: 1, lastId: 1, snapshot: new Map() },
    users: () => ({ users, changes: 10 - users.length }),
    log: vi.fn(),
  });
  try {
    await generations.begin();
    expect(recordedUserChanges(folder)).toBe(8);
    const kept = generationsFolder(folder);
    renameSync(kept, `${kept}.away`);
    writeFileSync(kept, '');
    users = [user('admin')];
    generations.usersChanged();
    expect(recordedUserChanges(folder)).toBe(9);
    rmSync(kept);
    renameSync(`${kept}.away`, kept);
    expect(newestKept(folder)?.users.changes).toBe(8);
    // The attempt that failed may not be over yet.
    await expect
      .poll(() => generations.begin().then(() => [recordedUserChanges(folder), newestKept(folder)?.users.changes]))
      .toEqual([9, 9]);
  } finally {
    generations.close();
  }
});

it('knows copies of the time before anybody could log in from those of a router that has not been set up', async () => {
  let users: KeptUser[] = [];
  let changes = 0;
  const generations = new Generations(folder, {
    database: 'a',
    store: { revision: 0, lastId: 0, snapshot: new Map() },
    users: () => ({ users, changes }),
    log: vi.fn(),
  });
  const before = () => {
    const kept = newestKept(folder);
    return kept && predatesFullUsers(folder, kept);
  };
  try {
    await generations.begin();
    expect(before()).toBe(false);
    const old = readFileSync(join(generationsFolder(folder), '0.rows'));
    users = [user('admin')];
    changes = 1;
    generations.usersChanged();
    expect(before()).toBe(false);
    writeFileSync(join(generationsFolder(folder), '0.rows'), old);
    expect(before()).toBe(true);
  } finally {
    generations.close();
  }
});

it('is there again a few seconds after the folder was removed, without a change', async () => {
  const generations = new Generations(folder, {
    database: 'a',
    store: { revision: 3, lastId: 1, snapshot: new Map() },
    users: () => ({ users: [user('admin')], changes: 1 }),
    log: vi.fn(),
  });
  try {
    await generations.begin();
    rmSync(generationsFolder(folder), { recursive: true });
    await expect.poll(() => newestKept(folder)?.heads.at(-1)?.revision, { timeout: 90_000 }).toBe(3);
    expect(generations.problem).toBeUndefined();
  } finally {
    generations.close();
  }
});

const user = (name: string): KeptUser => ({ name, group: 'full', disabled: false, comment: '', passwordHash: null });
