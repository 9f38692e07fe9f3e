// @ts-check
/** Paths of what lives no longer than a run: pid files, the socket between agent and API, the register. */
import { accessSync, constants, lstatSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { instanceHash } from './options.mjs';

const isRoot = process.getuid?.() === 0;

/** Folder of the register of instances on this machine. */
export const registryDir = isRoot ? '/run/tollway' : path.join(tmpdir(), `tollway-${process.getuid?.() ?? 'user'}`);

/**
 * Fault of a register that another user could write: whoever reads it ends the processes that it names. In a folder
 * for all, as /tmp is, anybody may have made it before.
 * @param {string} folder
 * @returns {string | undefined} undefined also when it is not there
 */
export function registerFault(folder) {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (!stat.isDirectory()) return 'is no folder';
  if (stat.uid !== process.getuid?.()) return `belongs to another user (uid ${stat.uid})`;
  return (stat.mode & 0o022) === 0 ? undefined : 'can be written by other users';
}

/** Folder of pid files and the like. @param {string} dataDir */
export const runDir = (dataDir) => path.join(dataDir, 'run');

/**
 * The agent's socket: beside the register, for the data folder may become read-only, and an agent that is started again
 * must be able to make it.
 * @param {string} dataDir
 */
export const socketOf = (dataDir) => path.join(registryDir, `${instanceHash(dataDir)}.sock`);

/** Whether two paths lead to one folder, be it by a symbolic link or a bind mount. @param {string} a @param {string} b */
export function isSameFolder(a, b) {
  if (a === b) return true;
  const [first, second] = [a, b].map((folder) => statSync(folder, { bigint: true, throwIfNoEntry: false }));
  return first !== undefined && second !== undefined && first.dev === second.dev && first.ino === second.ino;
}

/** Whether a folder is on a file system that is read-only. @param {string} folder */
export function isReadOnly(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return isReadOnlyError(error);
  }
}

/** @param {unknown} error */
export const isReadOnlyError = (error) => error instanceof Error && 'code' in error && error.code === 'EROFS';

/**
 * Removes what may be there. Where that fails, as on a read-only file system or below what is no folder, it stays: what is left
 * of one router is no reason for another not to start.
 * @param {string} file
 */
export function removeIfPossible(file) {
  try {
    rmSync(file, { recursive: true, force: true });
  } catch {
    // The file stays, as said above.
  }
}
