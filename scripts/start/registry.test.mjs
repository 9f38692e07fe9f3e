// @ts-check
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { identify } from '../process.mjs';
import { withLock } from './registry.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tollway-registry-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a lock that nobody holds is taken, also one that was never written for want of room', async () => {
  const lock = path.join(folder, 'lock');
  const { pid = 0 } = identify(process.pid) ?? {};
  for (const left of ['', '{"pid":', JSON.stringify({ pid, startTime: '1' })]) {
    writeFileSync(lock, left);
    expect(await withLock(async () => existsSync(lock), folder)).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  }
});

test('a lock that a process holds is waited for', async () => {
  const lock = path.join(folder, 'lock');
  writeFileSync(lock, JSON.stringify(identify(process.pid)));
  let isFree = false;
  setTimeout(() => {
    isFree = true;
    rmSync(lock);
  }, 300);
  expect(await withLock(async () => isFree, folder)).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});
