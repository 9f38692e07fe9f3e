import { registry } from '@tollway/schema';
import type { StoredRow } from '../config/draft.js';
import type { StoredConfig } from '../config/revision-storage.js';
import { adapter } from '../database/client.js';
import type { Migration } from '../database/migrate.js';
import type { Generation } from '../generations/rows-file.js';
import { storagesOf } from '../snapshot/storage.js';

/** Checks whether a database that can be opened is complete: SQLite does not detect missing tables or rows. */

type Connection = Awaited<ReturnType<ReturnType<typeof adapter>['connect']>>;

async function tablesOf(connection: Connection): Promise<Map<string, Set<string>>> {
  const { rows } = await connection.queryRaw({
    sql: `SELECT "t".name, "c".name FROM sqlite_schema AS "t" JOIN pragma_table_info("t".name) AS "c" WHERE "t".type = 'table'`,
    args: [],
    argTypes: [],
  });
  const tables = new Map<string, Set<string>>();
  for (const [table, column] of rows) {
    const columns = tables.get(String(table)) ?? new Set();
    tables.set(String(table), columns.add(String(column)));
  }
  return tables;
}

/**
 * Tables and columns that the migrations create and the database at `url` lacks, as a text; undefined when none is
 * missing.
 */
export async function missingIn(url: string, migrations: readonly Migration[]): Promise<string | undefined> {
  const model = await adapter(':memory:').connect();
  const connection = await adapter(url).connect();
  try {
    for (const { sql } of migrations) await model.executeScript(sql);
    const present = await tablesOf(connection);
    for (const [table, columns] of await tablesOf(model)) {
      const there = present.get(table);
      if (there === undefined) return `no table ${table}`;
      const column = [...columns].find((name) => !there.has(name));
      if (column !== undefined) return `no column ${column} in table ${table}`;
    }
    return undefined;
  } finally {
    await model.dispose();
    await connection.dispose();
  }
}

/** The first menu whose rows differ from those of a generation; undefined when all are equal. */
export function menuUnlike({ snapshot }: StoredConfig, { rows }: Generation): string | undefined {
  const kept = new Map(rows.map((row) => [row.id, row]));
  for (const [menu, stored] of snapshot) {
    for (const row of stored) {
      const copy = kept.get(row.id);
      kept.delete(row.id);
      if (copy === undefined || copy.menu !== menu || contentText(copy) !== contentText(row)) return menu;
    }
  }
  const [lost] = kept.values();
  return lost?.menu;
}

/** Content of a row, regardless of the order of its properties. */
const contentText = (row: StoredRow): string =>
  JSON.stringify([
    row.rank,
    row.disabled,
    row.comment,
    Object.entries(row.values).sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);

/** The first menu with rows that this version does not know; undefined when there is none. */
export function unknownMenu({ snapshot }: StoredConfig): string | undefined {
  const known = new Set(registry.flatMap(({ path }) => storagesOf(path)));
  return [...snapshot.keys()].find((menu) => !known.has(menu));
}
