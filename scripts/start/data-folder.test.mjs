// @ts-check
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareDataDir } from './data-folder.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tollway-data-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (/** @type {string[]} */ ...parts) => (lstatSync(path.join(folder, ...parts)).mode & 0o777).toString(8);

test('a data folder that does not exist is made for its owner only', () => {
  const inside = path.join(folder, 'data');
  prepareDataDir(inside);
  expect([modeOf('data'), modeOf('data', 'run')]).toEqual(['700', '700']);
});

test('one that is open to others is closed, with what Tollway has in it', () => {
  mkdirSync(path.join(folder, 'agent', 'claims'), { recursive: true });
  for (const file of ['tollway.db', 'tollway.db-wal', 'agent/claims/eth1']) {
    writeFileSync(path.join(folder, file), '');
    chmodSync(path.join(folder, file), 0o664);
  }
  for (const each of ['', 'agent', 'agent/claims']) chmodSync(path.join(folder, each), 0o755);
  prepareDataDir(folder);
  expect(['', 'agent', 'agent/claims', 'run'].map((name) => modeOf(name))).toEqual(['700', '700', '700', '700']);
  expect(['tollway.db', 'tollway.db-wal', 'agent/claims/eth1'].map((name) => modeOf(name))).toEqual([
    '600',
    '600',
    '600',
  ]);
});

test('one that holds what is not Tollway’s is not closed to others, but refused', () => {
  writeFileSync(path.join(folder, 'somebody.txt'), '');
  chmodSync(folder, 0o755);
  expect(() => prepareDataDir(folder)).toThrow(/holds somebody\.txt, which is not Tollway's: give a folder of its own/);
  expect(modeOf()).toBe('755');
});

test.skipIf(process.getuid?.() !== 0)('one of another user, who could read it, is refused', () => {
  chownSync(folder, 65_534, 65_534);
  expect(() => prepareDataDir(folder)).toThrow(/belongs to another user \(uid 65534\), who could read all/);
});

test.skipIf(process.getuid?.() !== 0)('what others have put into one that was open to them is not used', () => {
  chmodSync(folder, 0o777);
  mkdirSync(path.join(folder, 'agent'), { mode: 0o777 });
  const planted = path.join(folder, 'agent', 'active.tollway');
  writeFileSync(planted, '');
  chownSync(planted, 65_534, 65_534);
  expect(() => prepareDataDir(folder)).toThrow(
    /active\.tollway belongs to another user \(uid 65534\), who may have put/,
  );
  // Its mode stays when the folder is closed to other users later.
  expect(modeOf()).toBe('700');
  expect(() => prepareDataDir(folder)).toThrow(/active\.tollway belongs to another user/);
  rmSync(planted);
  symlinkSync('/dev/null', path.join(folder, 'tollway.db'));
  lchownSync(path.join(folder, 'tollway.db'), 65_534, 65_534);
  expect(() => prepareDataDir(folder)).toThrow(/tollway\.db belongs to another user/);
  rmSync(path.join(folder, 'tollway.db'));
  prepareDataDir(folder);
});

test('a link to one is as open as the folder that it leads to', () => {
  const data = path.join(folder, 'data');
  const link = path.join(folder, 'link');
  mkdirSync(data, { mode: 0o700 });
  mkdirSync(path.join(data, 'lost+found'));
  symlinkSync(data, link);
  prepareDataDir(link);
  chmodSync(data, 0o755);
  expect(() => prepareDataDir(link)).toThrow(/is open to other users and holds lost\+found/);
  rmSync(path.join(data, 'lost+found'), { recursive: true });
  prepareDataDir(link);
  expect(modeOf('data')).toBe('700');
});

test('links in it are not followed', () => {
  const other = mkdtempSync(path.join(tmpdir(), 'tollway-other-'));
  try {
    writeFileSync(path.join(other, 'file'), '');
    chmodSync(path.join(other, 'file'), 0o644);
    symlinkSync(path.join(other, 'file'), path.join(folder, 'tollway.db'));
    prepareDataDir(folder);
    expect((lstatSync(path.join(other, 'file')).mode & 0o777).toString(8)).toBe('644');
  } finally {
    rmSync(other, { recursive: true });
  }
});
