import { PrismaLibSql } from '@prisma/adapter-libsql';
import { PrismaClient } from '../generated/prisma/client.js';

/** How long a statement waits for another program that writes before it fails, ms: nothing else runs meanwhile. */
const BUSY_TIMEOUT_MS = 5;

export type Database = PrismaClient;

/** Factory of driver connections for Prisma and for the migrator. `url` is `file:/path`. */
export function adapter(url: string): PrismaLibSql {
  return new PrismaLibSql({ url, timeout: BUSY_TIMEOUT_MS });
}

/** The Prisma client on a migrated database. The driver turns foreign keys on for each connection. */
export function openDatabase(url: string): Database {
  return new PrismaClient({ adapter: adapter(url) });
}
