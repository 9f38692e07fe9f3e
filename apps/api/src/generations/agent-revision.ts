import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** Where the agent keeps the configuration that it forwards by; `crates/worker/src/active.rs` says what is in it. */
const activeFile = (dataDir: string): string => join(dataDir, 'agent', 'active.tollway');

const MAGIC = 'TOLLWAY\0';

/** Revision of the configuration that the agent has on disk; 0 when there is none. */
export function agentRevision(dataDir: string): number {
  try {
    const file = openSync(activeFile(dataDir), 'r');
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
