import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../errors.js';

/** A folder below the data folder that cannot be written. */
export interface FolderProblem {
  /** Problem, in one sentence. */
  readonly problem: string;
  /** Remedy for people. */
  readonly remedy: string;
  /** Whether the folder belongs to the agent, which does not start without it. */
  readonly ofAgent: boolean;
}

const WRITABLE = 'Make it a folder that can be written; the rest goes on by itself then.';
const FREE = 'Free some space; the rest goes on by itself then.';

/**
 * Problem of the data folder; undefined when there is none.
 * @param copyProblem why no copies of the configuration can be kept; undefined when they can
 */
export function folderProblem(dataDir: string, copyProblem: string | undefined): FolderProblem | undefined {
  const ofAgent = agentFolderProblem(dataDir);
  if (ofAgent !== undefined) return { problem: ofAgent, remedy: WRITABLE, ofAgent: true };
  if (copyProblem === undefined) return undefined;
  return {
    problem: copyProblem,
    remedy: /ENOSPC|EDQUOT|disk is full/.test(copyProblem) ? FREE : WRITABLE,
    ofAgent: false,
  };
}

/** Size of the agent's file of the active configuration, bytes; 0 where it cannot be read. */
export function activeConfigBytes(dataDir: string): number {
  try {
    return statSync(join(dataDir, 'agent', 'active.tollway')).size;
  } catch {
    return 0;
  }
}

/**
 * Reason why the agent cannot store a configuration in its folder, in one sentence; undefined when it can, or when the
 * folder does not exist: the agent creates it with the next change. A full disk is reported by the check of the
 * database.
 */
function agentFolderProblem(dataDir: string): string | undefined {
  const folder = join(dataDir, 'agent');
  try {
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return undefined;
    // The folder may be a link whose target does not exist.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      return `The data plane cannot store a configuration: ${folder} is no folder.`;
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const why = messageOf(error);
    return `The data plane cannot store a configuration in ${folder}: ${why}.`;
  }
}
