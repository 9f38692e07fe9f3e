import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What to do about a folder of the data folder that takes nothing. */
export const FOLDER_REMEDY = 'Make it a folder that can be written; the rest goes on by itself then.';

/**
 * Why the agent cannot store a configuration in its folder, in one sentence; undefined when it can, or when the folder is not
 * there: the agent makes it with the next change. A full disk is the database's to tell.
 */
export function agentFolderTrouble(dataDir: string): string | undefined {
  const folder = join(dataDir, 'agent');
  try {
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return undefined;
    // A link may lead nowhere.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      return `The data plane cannot store a configuration: ${folder} is no folder.`;
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `The data plane cannot store a configuration in ${folder}: ${why}.`;
  }
}
