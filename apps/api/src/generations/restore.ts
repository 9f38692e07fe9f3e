import { accessSync, constants, existsSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { RowChange, StoredRow } from '../config/draft.js';
import { SYSTEM } from '../config/revision-storage.js';
import { adapter } from '../database/client.js';
import { faultOf } from '../database/fault.js';
import { databaseFile } from '../database/file.js';
import { type Migration, migrate } from '../database/migrate.js';
import { messageOf } from '../errors.js';
import { agentRevision } from './agent-revision.js';
import {
  generationsFolder,
  keptGenerations,
  lastRevisionOf,
  mayMissUserChanges,
  newestDamagedFiles,
  newestKept,
  predatesFullUsers,
  recordedUserChanges,
} from './generations.js';
import { baseLines, type Generation, type KeptUsers } from './rows-file.js';

/** Restores the database from the copies of its rows in the data folder. */

/** Failure of a restoration; the message says why, in a sentence for people. Nothing was changed. */
export class CannotRestore extends Error {}

interface Restored {
  readonly generation: Generation;
  /** Number of the new revision. */
  readonly revision: number;
  /** Path to which the previous database was moved; undefined when there was none. */
  readonly keptAs: string | undefined;
  /** Damaged copies of later revisions: removals of users and changes of passwords in them are lost. */
  readonly damaged: readonly string[];
  /** Active revision of the data plane that has no copy and is replaced, too; undefined when there is none. */
  readonly replaced: number | undefined;
  /** Whether copies of the last revisions are missing, together with the users of that time. */
  readonly isOutdated: boolean;
}

/** Free space below which a disk counts as full, bytes. */
const MIN_FREE = 256 << 10;

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

type Connection = Awaited<ReturnType<ReturnType<typeof adapter>['connect']>>;

/**
 * Value that `--restore` needs after a restart: a revision, if copies of later revisions are damaged or missing;
 * `value` is undefined if none is needed.
 * @returns undefined when there is nothing to restore
 */
export function restorableFrom(dataDir: string): { readonly value: number | undefined } | undefined {
  const newest = newestKept(dataDir);
  // With copies from before the first password no user could log in.
  if (newest === undefined || predatesFullUsers(dataDir, newest)) return undefined;
  const last = lastRevisionOf(newest);
  const isOutdated = agentRevision(dataDir) > last || mayMissUserChanges(dataDir, newest.users);
  return { value: newestDamagedFiles(dataDir).length > 0 || isOutdated ? last : undefined };
}

/** Refuses a restore that loses later changes, unless the revision was named explicitly. */
function refuseLosing(what: string, { revision }: Generation): never {
  throw new CannotRestore(
    `What was kept last is ${what}, and with it later changes, and who may log in since. ` +
      `To go back to revision ${revision} and the users of that time: npm start -- --restore ${revision}`,
  );
}

/**
 * Replaces the database at `url` by a new one, with the configuration of a generation as a new revision.
 * @param wanted revision to restore; by default the newest one.
 * @param checks true: only tests whether the restore would work; the new database is created and removed again.
 * @throws CannotRestore
 */
export async function restore(
  url: string,
  dataDir: string,
  migrations: readonly Migration[],
  wanted?: number,
  checks = false,
): Promise<Restored> {
  const file = databaseFile(url);
  const damaged = newestDamagedFiles(dataDir);
  const generation = chosen(dataDir, wanted, damaged);
  const newest = newestKept(dataDir);
  if (newest !== undefined && predatesFullUsers(dataDir, newest)) {
    throw nothingToRestore(dataDir, 'is of the time before anybody could log in');
  }
  if (wanted === undefined && damaged.length > 0) {
    refuseLosing(`damaged (${damaged.join(', ')})`, generation);
  }
  // Users are taken from the newest copy, whatever the revision: removed users and old passwords do not come back.
  const users = newest?.users ?? { users: [], changes: 0 };
  const ahead = agentRevision(dataDir);
  const building = `${file}.restored`;
  try {
    removeDatabase(building);
    await migrate(`file:${building}`, migrations);
    const connection = await adapter(`file:${building}`).connect();
    let revision: number;
    let known: number;
    let isOutdated: boolean;
    let keep: () => void;
    try {
      const old = await keepHistory(connection, file, newest?.database);
      known = old.revision;
      const there = Math.max(known, ahead);
      const missedUsers = mayMissUserChanges(dataDir, users);
      isOutdated = there > lastRevisionOf(newest) || missedUsers;
      if (wanted === undefined && isOutdated) {
        const what = missedUsers ? 'users may have been changed since' : `there was revision ${there}`;
        refuseLosing(`missing (${what}, the copies end with ${lastRevisionOf(newest)})`, generation);
      }
      revision = 1 + Math.max(known, lastRevisionOf(newest), ahead);
      const last = newest?.at(lastRevisionOf(newest));
      // Ids are never reused, so that the history remains correct.
      const lastId = Math.max(generation.lastId, last?.lastId ?? 0, old.lastId);
      const changes = last === undefined ? [] : difference(last, generation);
      const counted = {
        ...users,
        changes: 1 + Math.max(users.changes, old.userChanges, recordedUserChanges(dataDir) ?? 0),
        lastUserId: old.lastUserId,
      };
      const restored = { ...generation, lastId };
      await write(connection, restored, counted, { revision, changes });
      if (newest?.database !== undefined) await identify(connection, newest.database);
      const { rows } = await connection.queryRaw({ sql: 'SELECT "value" FROM "Identity"', args: [], argTypes: [] });
      keep = () => keepRestored(dataDir, String(rows[0]?.[0]), { ...restored, revision }, counted);
      await connection.executeScript('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      await connection.dispose();
    }
    let keptAs: string | undefined;
    if (checks) {
      refuseImmovable(file);
      removeDatabase(building);
    } else {
      keptAs = setAside(file);
      for (const end of BESIDE) rmSync(`${building}${end}`, { force: true });
      renameSync(building, file);
      keep();
    }
    return {
      generation,
      revision,
      keptAs,
      damaged,
      isOutdated,
      replaced: ahead > Math.max(known, lastRevisionOf(newest)) ? ahead : undefined,
    };
  } catch (error) {
    removeDatabase(building);
    if (error instanceof CannotRestore) throw error;
    const fault = faultOf(error, building);
    // On a full disk SQLite reports some steps with a general error only.
    const full = fault?.kind === 'full' || (fault?.kind === 'unreadable' && freeBytes(dataDir) < MIN_FREE);
    const why = full ? 'the disk is full.' : (fault?.message ?? messageOf(error));
    const remedy = full ? 'Free some space, then give' : 'When that is mended, give';
    const meanwhile = ahead > 0 ? ' Started without --restore the router forwards as before.' : '';
    throw new CannotRestore(
      `The database could not be rebuilt, and nothing was changed: ${why} ${remedy} the same command again.${meanwhile}`,
      { cause: error },
    );
  }
}

/** @param why the state of the folder of copies, as a predicate */
function nothingToRestore(dataDir: string, why: string): CannotRestore {
  const meanwhile = agentRevision(dataDir) > 0 ? ' Started without --restore the router forwards as before.' : '';
  return new CannotRestore(`There is nothing to restore: ${generationsFolder(dataDir)} ${why}.${meanwhile}`);
}

function chosen(dataDir: string, wanted: number | undefined, damaged: readonly string[]): Generation {
  const folder = generationsFolder(dataDir);
  const held: number[] = [];
  for (const file of keptGenerations(dataDir)) {
    const found = file.at(wanted ?? lastRevisionOf(file));
    if (found !== undefined) return found;
    held.push(...file.heads.map(({ revision }) => revision));
  }
  if (held.length === 0) {
    throw nothingToRestore(dataDir, damaged.length === 0 ? 'holds no generation' : 'holds none that can be read');
  }
  throw new CannotRestore(`There is no generation ${wanted} in ${folder}; there are ${rangesOf(held)}.`);
}

/** `1 to 17, 20, 22 to 40` */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ');
}

/** Keeps the number of parameters of one statement below SQLite's limit. */
const ROWS_AT_ONCE = 5_000;

/** Content of a row in a change, which does not include the menu. */
const contentOf = ({ menu: _, ...content }: Generation['rows'][number]) => content;

/**
 * Writes a copy of the restored configuration as a revision of its own, so that another restore before the next start
 * finds it. If that fails, the next start writes it.
 */
function keepRestored(dataDir: string, database: string, generation: Generation, users: KeptUsers): void {
  const snapshot = new Map<string, StoredRow[]>();
  for (const row of generation.rows) {
    const rows = snapshot.get(row.menu);
    if (rows === undefined) snapshot.set(row.menu, [contentOf(row)]);
    else rows.push(contentOf(row));
  }
  const { revision, lastId } = generation;
  const path = join(generationsFolder(dataDir), `${revision}.rows`);
  try {
    const lines = baseLines(database, revision, lastId, snapshot, { users: users.users, changes: users.changes });
    writeFileSync(`${path}.new`, [...lines].join(''), { mode: 0o600, flush: true });
    renameSync(`${path}.new`, path);
  } catch {
    rmSync(`${path}.new`, { force: true });
  }
}

/** Changes from one configuration to another. */
function difference(from: Generation, to: Generation): RowChange[] {
  const old = new Map(from.rows.map((row) => [row.id, row]));
  const changes: RowChange[] = [];
  for (const row of to.rows) {
    const previous = old.get(row.id);
    old.delete(row.id);
    if (isDeepStrictEqual(previous, row)) continue;
    const before = previous && contentOf(previous);
    changes.push({ menu: row.menu, id: row.id, ...(before && { before }), after: contentOf(row) });
  }
  for (const row of old.values()) changes.push({ menu: row.menu, id: row.id, before: contentOf(row) });
  return changes;
}

async function write(
  connection: Connection,
  generation: Generation,
  { users, changes: userChanges, lastUserId }: KeptUsers & { readonly lastUserId: number },
  { revision, changes }: { readonly revision: number; readonly changes: readonly RowChange[] },
): Promise<void> {
  const { rows, lastId } = generation;
  const run = (sql: string, ...args: (string | number | null)[]) =>
    connection.executeRaw({ sql, args, argTypes: args.map(() => ({ scalarType: 'unknown', arity: 'scalar' })) });
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const part = rows.slice(at, at + ROWS_AT_ONCE).map(({ values, ...row }) => ({ ...row, data: values }));
    await run(
      `INSERT INTO "ConfigRow" ("id", "menu", "rank", "disabled", "comment", "data")
       SELECT value ->> 'id', value ->> 'menu', value ->> 'rank', value ->> 'disabled',
              nullif(value ->> 'comment', ''), value -> 'data' FROM json_each(?)`,
      JSON.stringify(part),
    );
  }
  await run(`DELETE FROM sqlite_sequence WHERE name = 'ConfigRow'`);
  await run(`INSERT INTO sqlite_sequence (name, seq) VALUES ('ConfigRow', ?)`, lastId);
  await run(
    `INSERT INTO "User" ("id", "name", "passwordHash", "group", "disabled", "comment")
     SELECT value ->> 'id', value ->> 'name', value ->> 'passwordHash', value ->> 'group', value ->> 'disabled',
            nullif(value ->> 'comment', '') FROM json_each(?)`,
    JSON.stringify(users),
  );
  // Ids of removed users are not reused.
  await run(`UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'User'`, lastUserId);
  await run(`UPDATE "UserChanges" SET "count" = ?`, userChanges);
  const diff = JSON.stringify(changes);
  const summary = `restored generation ${generation.revision} (${generation.summary})`;
  await run(
    `INSERT INTO "Revision" ("number", "parent", "author", "time", "summary", "diff", "rows", "size", "sha256")
     VALUES (?, ?, ?, ?, ?, jsonb(?), ?, ?, '')`,
    revision,
    revision - 1,
    SYSTEM.name,
    new Date().toISOString(),
    summary,
    diff,
    changes.length,
    diff.length,
  );
  await run(
    `INSERT INTO "Audit" ("time", "user", "address", "action", "detail", "revision") VALUES (?, ?, ?, ?, ?, ?)`,
    new Date().toISOString(),
    SYSTEM.name,
    '',
    'config',
    summary,
    revision,
  );
}

/** Gives a database the identity of the one that the copies are of. */
async function identify(connection: Connection, identity: string): Promise<void> {
  const sql = 'UPDATE "Identity" SET "value" = ?';
  await connection.executeRaw({ sql, args: [identity], argTypes: [{ scalarType: 'string', arity: 'scalar' }] });
}

/** Tables of the history, which is not part of the configuration. Tables that cannot be read are not copied. */
const HISTORY = ['Revision', 'Audit', 'QueueDay', 'QueueMeter'];

/** Highest numbers in use in a database. */
interface Counts {
  /** Number of the newest revision. */
  readonly revision: number;
  /** Highest row id that was ever given. */
  readonly lastId: number;
  readonly userChanges: number;
  /** Highest id of a user. */
  readonly lastUserId: number;
}

const NOTHING: Counts = { revision: 0, lastId: 0, userChanges: 0, lastUserId: 0 };

/**
 * Copies the history of the old database, as far as it can be read. Returns the highest numbers in use there.
 * @param identity identity of the database that the copies are of: the history of another router is not copied
 */
async function keepHistory(connection: Connection, file: string, identity: string | undefined): Promise<Counts> {
  if (!existsSync(file)) return NOTHING;
  const tried = async (sql: string): Promise<boolean> =>
    connection.executeScript(sql).then(
      () => true,
      () => false,
    );
  if (!(await tried(`ATTACH '${file.replaceAll("'", "''")}' AS old`))) return NOTHING;
  const firstOf = async (sql: string): Promise<unknown> =>
    (await connection.queryRaw({ sql, args: [], argTypes: [] })).rows[0]?.[0];
  const numberOf = async (sql: string): Promise<number> => Number((await firstOf(sql)) ?? 0);
  const found = await firstOf('SELECT "value" FROM old."Identity"').catch(() => undefined);
  if (identity !== undefined && typeof found === 'string' && found !== identity) {
    await tried('DETACH old');
    return NOTHING;
  }
  for (const table of HISTORY) {
    const columns = await commonColumns(connection, table).catch(() => '');
    if (columns !== '') await tried(`INSERT INTO main."${table}" (${columns}) SELECT ${columns} FROM old."${table}"`);
  }
  const lastOf = (table: string) =>
    numberOf(`SELECT seq FROM old.sqlite_sequence WHERE name = '${table}'`).catch(() => 0);
  const [lastId, lastUserId] = [await lastOf('ConfigRow'), await lastOf('User')];
  const userChanges = await numberOf('SELECT max("count") FROM old."UserChanges"').catch(() => 0);
  await tried('DETACH old');
  const revision = await numberOf('SELECT coalesce(max("number"), 0) FROM "Revision"');
  return { revision, lastId, userChanges, lastUserId };
}

/** Columns that a table has both here and in the old database, which may be of another version. */
async function commonColumns(connection: Connection, table: string): Promise<string> {
  const sql = `SELECT group_concat('"' || name || '"') FROM
    (SELECT name FROM pragma_table_info('${table}', 'main') INTERSECT SELECT name FROM pragma_table_info('${table}', 'old'))`;
  return String((await connection.queryRaw({ sql, args: [], argTypes: [] })).rows[0]?.[0] ?? '');
}

/**
 * Suffixes of the files that SQLite keeps beside a database. It would use such a file with any database of that name.
 */
const BESIDE = ['-wal', '-shm', '-journal'];

/** Suffixes of the files of a database that exist; a WAL may exist alone. */
const partsOf = (file: string): readonly string[] => ['', ...BESIDE].filter((end) => existsSync(file + end));

/** Moves the database away. @returns its new path, if there was a database */
function setAside(file: string): string | undefined {
  const aside = `${file}.${new Date().toISOString().replaceAll(/[-:]|\..*/g, '')}.aside`;
  const parts = partsOf(file);
  for (const end of parts) renameSync(file + end, aside + end);
  return parts.includes('') ? aside : undefined;
}

/** Refuses immutable files (chattr(1)), which cannot be moved or written. */
function refuseImmovable(file: string): void {
  for (const end of partsOf(file)) accessSync(file + end, constants.W_OK);
}

function removeDatabase(file: string): void {
  for (const end of ['', ...BESIDE]) rmSync(file + end, { force: true });
}
