import type { Database } from './client.js';

/**
 * Runs `work` in one transaction: all of it is stored or nothing. `writer` must be a client that nothing
 * else uses meanwhile: the statements go over its one connection. (The driver would give each transaction
 * of `$transaction` a connection of its own and leave closing it to the garbage collector.)
 */
export async function inTransaction(writer: Database, work: () => Promise<void>): Promise<void> {
  await writer.$executeRawUnsafe('BEGIN IMMEDIATE');
  try {
    await work();
    await writer.$executeRawUnsafe('COMMIT');
  } catch (error) {
    await writer.$executeRawUnsafe('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
