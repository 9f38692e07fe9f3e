// @ts-check
/** Paths of this project. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the project. */
export const projectRoot = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** @param {...string} parts */
export const inProject = (...parts) => path.join(projectRoot, ...parts);

/** Cargo workspace and npm package of the agent. */
export const agentDir = inProject('packages', 'dataplane-agent');

/** Folder for data that scripts keep between runs, and for their drawings. It can be deleted; it only saves time. */
export const cacheDir = inProject('.cache');

/** A failure with a message for the user: it is printed without a stack trace. */
export class UserError extends Error {
  /**
   * @param {string} message
   * @param {number} [exitCode] 2 for wrong options, 1 for everything else
   */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Makes a folder and those above it. (Not by `recursive`: Node 20 never returns from that below /proc.)
 * @param {string} folder absolute
 * @param {number} [mode] of what is made
 */
export function makeFolder(folder, mode = 0o777) {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') return;
    const above = path.dirname(folder);
    if (code !== 'ENOENT' || above === folder) throw error;
    makeFolder(above, mode);
    mkdirSync(folder, { mode });
  }
}

/**
 * Runs the body of a command: a {@link UserError} ends it with one clear message and its exit code.
 * @param {() => Promise<number | undefined>} body returns the exit code
 */
export async function main(body) {
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    console.error(error.message);
    process.exitCode = error.exitCode;
  }
}
