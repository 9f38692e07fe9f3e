import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Files in which the agent keeps its active configuration and the previous ones. Their format is described in
 * `crates/worker/src/active.rs`.
 */
const FILES = ['active.tollway', 'active.1.tollway', 'active.2.tollway'];

const MAGIC = 'TOLLWAY\0';

/** Highest revision of the configurations that the agent has stored; 0 without any. */
export const agentRevision = (dataDir: string): number =>
  Math.max(...FILES.map((name) => revisionOf(join(dataDir, 'agent', name))));

function revisionOf(path: string): number {
  try {
    const file = openSync(path, 'r');
    try {
      const header = Buffer.alloc(24);
      const whole = readSync(file, header, 0, header.length, 0) === header.length;
      return whole && header.toString('latin1', 0, 8) === MAGIC ? Number(header.readBigUInt64LE(16)) : 0;
    } finally {
      closeSync(file);
    }
  } catch {
    return 0;
  }
}
