import type { Database } from './client.js';

/**
 * Runs `work` in one transaction: all of its changes are stored, or none. `writer` must be a client that nothing else
 * uses meanwhile, as the statements share its only connection. (For `$transaction` the driver would open a new
 * connection each time, and close it only at garbage collection.)
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
