import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { agentRevision } from '../../src/generations/agent-revision.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollway-agent-revision-'));
  mkdirSync(join(directory, 'agent'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Puts the beginning of a file of the agent where it keeps it. */
function put(name: string, revision: bigint): void {
  const header = Buffer.alloc(56);
  header.write('TOLLWAY\0', 'latin1');
  header.writeBigUInt64LE(revision, 16);
  writeFileSync(join(directory, 'agent', name), header);
}

it('is that of the newest configuration that the agent has on disk', () => {
  expect(agentRevision(directory)).toBe(0);
  put('active.1.tollway', 6n);
  expect(agentRevision(directory)).toBe(6);
  put('active.tollway', 7n);
  put('active.2.tollway', 5n);
  expect(agentRevision(directory)).toBe(7);
  // The agent starts with the one before: the router has been set up, whatever became of the last file.
  writeFileSync(join(directory, 'agent', 'active.tollway'), '');
  expect(agentRevision(directory)).toBe(6);
});
