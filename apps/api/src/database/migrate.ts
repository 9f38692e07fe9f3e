import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { adapter } from './client.js';

/**
 * Applies `prisma/migrations/<name>/migration.sql` in order, as `prisma migrate deploy` does, and keeps
 * the same `_prisma_migrations` table, so that the official CLI and this product accept each other's
 * work. Each migration is one transaction together with its row.
 */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, hex. */
  readonly checksum: string;
}

/** The database has migrations that this version does not know. */
export class NewerDatabase extends Error {}

/** Prisma's own DDL for the table. */
const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id"                    TEXT PRIMARY KEY NOT NULL,
    "checksum"              TEXT NOT NULL,
    "finished_at"           DATETIME,
    "migration_name"        TEXT NOT NULL,
    "logs"                  TEXT,
    "rolled_back_at"        DATETIME,
    "started_at"            DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count"   INTEGER UNSIGNED NOT NULL DEFAULT 0
)`;

/** Reads the checked-in migrations, oldest first. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * Whether the database at `url` has tables, none of which were made by these migrations. Only reads.
 * @param migrations a database of this product has one of them as its first migration
 */
export async function hasOtherTables(url: string, migrations: readonly Migration[]): Promise<boolean> {
  const connection = await adapter(url).connect();
  const texts = async (sql: string) =>
    (await connection.queryRaw({ sql, args: [], argTypes: [] })).rows.map((row) => String(row[0]));
  try {
    const tables = await texts(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    );
    if (!tables.includes('_prisma_migrations')) return tables.length > 0;
    // If the first start ended before its first migration, the table of migrations is the only one.
    if (tables.length === 1) return false;
    const applied = await texts('SELECT migration_name FROM _prisma_migrations');
    return !applied.includes(migrations[0]?.name ?? '');
  } finally {
    await connection.dispose();
  }
}

/**
 * Applies the migrations that the database at `url` lacks.
 * @returns names of the applied migrations.
 * @throws Error when an applied migration was edited, is missing here, or has failed half-way earlier.
 */
export async function migrate(url: string, migrations: readonly Migration[]): Promise<string[]> {
  const connection = await adapter(url).connect();
  try {
    await connection.executeScript(`PRAGMA journal_mode = WAL; ${MIGRATIONS_TABLE};`);
    const result = await connection.queryRaw({
      sql: 'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
      args: [],
      argTypes: [],
    });
    const applied = new Map(
      result.rows.map((row) => [String(row[0]), { checksum: row[1], finished: row[2] !== null }]),
    );
    refuseForeignHistory(applied, migrations);
    const pending = migrations.filter((migration) => !applied.has(migration.name));
    for (const migration of pending) {
      try {
        await connection.executeScript(transaction(migration));
      } catch (error) {
        await connection.executeScript('ROLLBACK').catch(() => undefined);
        throw new Error(`migration ${migration.name} failed`, { cause: error });
      }
    }
    return pending.map((migration) => migration.name);
  } finally {
    await connection.dispose();
  }
}

function refuseForeignHistory(
  applied: ReadonlyMap<string, { checksum: unknown; finished: boolean }>,
  migrations: readonly Migration[],
): void {
  for (const [name, { checksum, finished }] of applied) {
    const known = migrations.find((migration) => migration.name === name);
    if (known === undefined) {
      throw new NewerDatabase(
        `the database has migration ${name}, which this version does not know; it was made by a newer one`,
      );
    }
    if (known.checksum !== checksum) throw new Error(`migration ${name} was changed after it was applied`);
    if (!finished) throw new Error(`migration ${name} did not finish; resolve it with "prisma migrate resolve"`);
  }
}

function transaction(migration: Migration): string {
  const now = Date.now();
  return `BEGIN IMMEDIATE;
${migration.sql}
;INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, logs, rolled_back_at, started_at, applied_steps_count)
VALUES ('${randomUUID()}', '${migration.checksum}', ${now}, '${migration.name.replaceAll("'", "''")}', NULL, NULL, ${now}, 1);
COMMIT;`;
}
