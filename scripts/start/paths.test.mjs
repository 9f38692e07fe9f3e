// @ts-check
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { registerFault } from './paths.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tollway-places-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a register that another user could have written is not trusted', () => {
  const register = path.join(folder, 'register');
  expect(registerFault(register)).toBeUndefined();
  mkdirSync(register, { mode: 0o700 });
  expect(registerFault(register)).toBeUndefined();
  chmodSync(register, 0o755);
  expect(registerFault(register)).toBeUndefined();
  for (const mode of [0o770, 0o777, 0o1777]) {
    chmodSync(register, mode);
    expect(registerFault(register)).toBe('can be written by other users');
  }
  symlinkSync(folder, path.join(folder, 'link'));
  writeFileSync(path.join(folder, 'file'), '');
  for (const name of ['link', 'file']) expect(registerFault(path.join(folder, name))).toBe('is no folder');
});

test.skipIf(process.getuid?.() !== 0)('a register of another user is not trusted', () => {
  chownSync(folder, 65_534, 65_534);
  expect(registerFault(folder)).toBe('belongs to another user (uid 65534)');
});
