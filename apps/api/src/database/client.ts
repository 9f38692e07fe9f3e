import { setFlagsFromString } from 'node:v8';
import { PrismaLibSql } from '@prisma/adapter-libsql';
import { PrismaClient } from '../generated/prisma/client.js';

/** Busy timeout, ms. The driver blocks the event loop meanwhile. */
const BUSY_TIMEOUT_MS = 5;

// Prisma compiles queries in WebAssembly. With V8's default tiering budget (1.8 million), the functions of that
// compiler are optimised during the start, which takes more than a second of processor time. With this budget they are
// optimised only after many queries.
setFlagsFromString('--wasm-tiering-budget=100000000');

export type Database = PrismaClient;

/** A connection of the driver. */
type Connection = ReturnType<PrismaLibSql['createClient']>;

/** Statements that never wait for a lock. */
const NEVER_LOCKED = /^\s*(SELECT|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA(?![^=]*=))/i;

/**
 * Works around a bug of the driver: a statement that fails with "database is locked" is never finalised, so that later writes
 * of the connection stay uncommitted, and locked, until garbage collection. Before each write a script tests whether the
 * database can be written, as scripts are finalised also on failure.
 */
function withoutStuckStatements(connection: Connection): Connection {
  let inTransaction = false;
  const execute = async (run: () => Promise<unknown>, statement: unknown): Promise<unknown> => {
    const sql = String(
      typeof statement === 'object' && statement !== null && 'sql' in statement ? statement.sql : statement,
    );
    if (!inTransaction && !NEVER_LOCKED.test(sql)) await connection.executeMultiple('BEGIN IMMEDIATE; ROLLBACK');
    // COMMIT and ROLLBACK end the transaction also when they fail.
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
