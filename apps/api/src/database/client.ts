import { PrismaLibSql } from '@prisma/adapter-libsql';
import { PrismaClient } from '../generated/prisma/client.js';

/** Seconds a statement waits for another writer (the CLI, a backup) before it fails. */
const BUSY_TIMEOUT_S = 5;

export type Database = PrismaClient;

/** Factory of driver connections for Prisma and for the migrator. `url` is `file:/path`. */
export function adapter(url: string): PrismaLibSql {
  return new PrismaLibSql({ url, timeout: BUSY_TIMEOUT_S });
}

/** The Prisma client on a migrated database. The driver turns foreign keys on for each connection. */
export function openDatabase(url: string): Database {
  return new PrismaClient({ adapter: adapter(url) });
}
