import { PrismaLibSql } from '@prisma/adapter-libsql';
import { PrismaClient } from '../generated/prisma/client.js';

/** How long a statement waits for another program that writes before it fails, ms: nothing else runs meanwhile. */
const BUSY_TIMEOUT_MS = 5;

export type Database = PrismaClient;

/** A connection of the driver. */
type Connection = ReturnType<PrismaLibSql['createClient']>;

/** Statements that never wait for another program that writes. */
const NEVER_LOCKED = /^\s*(SELECT|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA(?![^=]*=))/i;

/**
 * Keeps a connection from what this driver does with a statement that finds the database locked: it never ends it, and then
 * whatever the connection writes later stays uncommitted, and locked, until the garbage is collected. So it is tried before
 * each write whether there is room for one, by a script, which the driver ends also when it fails.
 */
function withoutStuckStatements(connection: Connection): Connection {
  let inTransaction = false;
  const execute = async (run: () => Promise<unknown>, statement: unknown): Promise<unknown> => {
    const sql = String(
      typeof statement === 'object' && statement !== null && 'sql' in statement ? statement.sql : statement,
    );
    if (!inTransaction && !NEVER_LOCKED.test(sql)) await connection.executeMultiple('BEGIN IMMEDIATE; ROLLBACK');
    // What ends a transaction ends it also when it fails.
    if (/^\s*(COMMIT|ROLLBACK)/i.test(sql)) inTransaction = false;
    const result = await run();
    if (/^\s*BEGIN/i.test(sql)) inTransaction = true;
    return result;
  };
  return new Proxy(connection, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const run = () => Reflect.apply(member, target, args);
        return name === 'execute' ? execute(run, args[0]) : run();
      };
    },
  });
}

class Adapter extends PrismaLibSql {
  override createClient(config: Parameters<PrismaLibSql['createClient']>[0]): Connection {
    return withoutStuckStatements(super.createClient(config));
  }
}

/** Factory of driver connections for Prisma and for the migrator. `url` is `file:/path`. */
export function adapter(url: string): PrismaLibSql {
  return new Adapter({ url, timeout: BUSY_TIMEOUT_MS });
}

/** The Prisma client on a migrated database. The driver turns foreign keys on for each connection. */
export function openDatabase(url: string): Database {
  return new PrismaClient({ adapter: adapter(url) });
}
