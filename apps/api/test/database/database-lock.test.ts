import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/database/client.js';
import { inTransaction } from '../../src/database/transaction.js';

let folder: string;
let [ours, theirs]: readonly Database[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollway-lock-'));
  const open = () => openDatabase(`file:${join(folder, 'test.db')}`);
  [ours, theirs] = [open(), open()];
  await theirs.$queryRawUnsafe('PRAGMA journal_mode = WAL');
  await theirs.$executeRawUnsafe('CREATE TABLE "Word" ("text" TEXT)');
});
afterEach(async () => {
  await Promise.all([ours, theirs].map((each) => each?.$disconnect()));
  rmSync(folder, { recursive: true });
});

const put = (database: Database | undefined, word: string) =>
  database?.$executeRawUnsafe(`INSERT INTO "Word" VALUES ('${word}')`);
const words = async () => {
  const rows = await theirs?.$queryRawUnsafe<{ text: string }[]>('SELECT "text" FROM "Word"');
  return rows?.map(({ text }) => text);
};

it('what is written after another program had the database locked is stored, and locks it for nobody', async () => {
  for (const write of [
    () => put(ours, 'one'),
    () => ours && inTransaction(ours, async () => void (await put(ours, 'several'))),
  ]) {
    await theirs?.$executeRawUnsafe('BEGIN IMMEDIATE');
    await expect(write()).rejects.toThrow(/locked|timed out/i);
    await theirs?.$executeRawUnsafe('ROLLBACK');
    await write();
    await put(ours, 'more');
    await put(theirs, 'theirs');
  }
  expect(await words()).toEqual(['one', 'more', 'theirs', 'several', 'more', 'theirs']);
});

it('a transaction that fails leaves the connection as it was', async () => {
  if (ours === undefined) throw new Error('not opened');
  const database = ours;
  const failing = inTransaction(database, async () => {
    await put(database, 'never');
    throw new Error('this fails');
  });
  await expect(failing).rejects.toThrow('this fails');
  await put(database, 'one');
  await inTransaction(database, async () => void (await put(database, 'two')));
  expect(await words()).toEqual(['one', 'two']);
});
