import { existsSync, lstatSync, statSync } from 'node:fs';
import { MalformedRow, readConfig, type StoredConfig } from '../config/revision-storage.js';
import { adapter, type Database } from '../database/client.js';
import { DatabaseFault, faultOf } from '../database/fault.js';
import { databaseFile, isWritable, startsAsDatabase } from '../database/file.js';
import { hasOtherTables, type Migration, migrate, NewerDatabase } from '../database/migrate.js';
import { agentRevision } from '../generations/agent-revision.js';
import {
  firstRevisionOfNewest,
  isUsableFullUser,
  lastRevisionOf,
  newestKept,
  predatesFullUsers,
  recordedUserChanges,
} from '../generations/generations.js';
import type { Generation } from '../generations/rows-file.js';
import { menuUnlike, missingIn, unknownMenu } from './completeness.js';

const MAYBE = { throwIfNoEntry: false } as const;

/** Maximum size of a database that is checked completely at the start, bytes. */
const CHECKED_BYTES = 512 << 20;

/**
 * Makes the database ready for use: checks that it is this router's newest one and complete, and migrates it. On a
 * router that has been set up, a missing database is not replaced by an empty one.
 * @returns the copy of its configuration, if there is one of the same revision
 * @throws DatabaseFault
 */
export async function readyDatabase(
  url: string,
  dataDir: string,
  migrations: readonly Migration[],
): Promise<Generation | undefined> {
  const file = databaseFile(url);
  // The database itself may be a link to another disk; SQLite does not follow links to its other files.
  const wrong = ['', '-wal', '-shm', '-journal'].find((end) => {
    const stat = end === '' ? statSync(file, MAYBE) : lstatSync(file + end, MAYBE);
    return stat?.isFile() === false;
  });
  if (wrong !== undefined) throw DatabaseFault.noFile(file, file + wrong);
  try {
    const kept = newestKept(dataDir);
    const last = Math.max(lastRevisionOf(kept), firstRevisionOfNewest(dataDir));
    const active = agentRevision(dataDir);
    const isSetUp = last > 0 || active > 0 || (recordedUserChanges(dataDir) ?? 0) > 0;
    // With copies from before the first password no user could log in.
    const isUseless = (copies: typeof kept) => copies === undefined || predatesFullUsers(dataDir, copies);
    const older = (detail: string) => new DatabaseFault('older', file, detail);
    const fresh = !existsSync(file) || statSync(file).size === 0;
    if (fresh && isSetUp) {
      if (isUseless(kept)) throw new DatabaseFault('lost', file);
      throw new DatabaseFault(existsSync(file) ? 'empty' : 'gone', file);
    }
    // After a read-only connection, later connections of this process could not write either.
    if (!fresh && !isWritable(file)) throw new DatabaseFault('read-only', file);
    if (!fresh) {
      await check(url, file);
      if (await hasOtherTables(url, migrations)) throw new DatabaseFault('foreign', file);
    }
    const migrated = await migrate(url, migrations);
    const missing = await missingIn(url, migrations);
    if (missing !== undefined) throw new DatabaseFault('damaged', file, missing);
    const { identity, revision, hasUsers, userChanges } = await content(url);
    if (!isSetUp) return undefined;
    // Changes of users before the first change of the configuration made no revision.
    if (revision === 0 && (last > 0 || active > 0)) throw new DatabaseFault('empty', file);
    const isOther = kept?.database !== undefined && kept.database !== identity;
    // An old copy gets a new identity when it is migrated, so that it differs, too.
    if (isOther && migrated.length === 0) throw new DatabaseFault('other', file);
    if (revision < last) throw older(`revision ${revision}; the last was ${last}`);
    const users = kept?.users;
    // Changes of users make no revision, so that their number is compared.
    if (userChanges < Math.max(users?.changes ?? 0, recordedUserChanges(dataDir) ?? 0)) {
      throw older(`revision ${revision}, but its users have changed since`);
    }
    if (isOther) throw new DatabaseFault('other', file);
    if (revision < active) throw older(`revision ${revision}; the data plane has ${active}`);
    const hadUsers = users?.users.some(isUsableFullUser) === true;
    if (!hasUsers && hadUsers) throw new DatabaseFault('no-users', file);
    // A migration may change rows. If the process crashed after a migration, the last revision has no copy.
    return migrated.length === 0 && revision === last ? kept?.at(last) : undefined;
  } catch (error) {
    if (error instanceof NewerDatabase) throw new DatabaseFault('newer', file, '', error);
    throw faultOf(error, file) ?? error;
  }
}

/**
 * Reads the configuration of a database that {@link readyDatabase} has checked.
 * @param kept the copy of the configuration
 * @throws DatabaseFault when the configuration differs from the copy, or has menus that this version does not know
 */
export async function readStored(db: Database, file: string, kept: Generation | undefined): Promise<StoredConfig> {
  const stored = await readConfig(db).catch((error: unknown) => {
    if (!(error instanceof SyntaxError) && !(error instanceof MalformedRow)) throw error;
    throw new DatabaseFault('damaged', file, `a row of the configuration cannot be read: ${error.message}`, error);
  });
  const other = kept === undefined ? undefined : menuUnlike(stored, kept);
  if (other !== undefined) {
    throw new DatabaseFault('damaged', file, `rows of ${other} are not those of revision ${stored.revision}`);
  }
  const unknown = unknownMenu(stored);
  if (unknown !== undefined) throw new DatabaseFault('newer', file, `it has rows of ${unknown}`);
  return stored;
}

async function check(url: string, file: string): Promise<void> {
  if (!startsAsDatabase(file)) throw new DatabaseFault('damaged', file);
  if (statSync(file).size > CHECKED_BYTES) return;
  const connection = await adapter(url).connect();
  try {
    const { rows } = await connection.queryRaw({ sql: 'PRAGMA quick_check(1)', args: [], argTypes: [] });
    const answer = String(rows[0]?.[0]);
    if (answer !== 'ok') throw new DatabaseFault('damaged', file, '', answer);
  } finally {
    await connection.dispose();
  }
}

interface Content {
  readonly identity: string;
  readonly revision: number;
  readonly hasUsers: boolean;
  readonly userChanges: number;
}

async function content(url: string): Promise<Content> {
  const connection = await adapter(url).connect();
  try {
    const first = async (sql: string) => (await connection.queryRaw({ sql, args: [], argTypes: [] })).rows[0]?.[0];
    return {
      identity: String(await first('SELECT "value" FROM "Identity"')),
      revision: Number(await first('SELECT coalesce(max("number"), 0) FROM "Revision"')),
      userChanges: Number(await first('SELECT coalesce(max("count"), 0) FROM "UserChanges"')),
      hasUsers:
        Number(
          await first(
            `SELECT count(*) FROM "User" WHERE "group" = 'full' AND "disabled" = 0 AND "passwordHash" LIKE '$argon2%'`,
          ),
        ) > 0,
    };
  } finally {
    await connection.dispose();
  }
}
