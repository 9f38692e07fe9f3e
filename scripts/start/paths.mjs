// @ts-check
/** Paths of files that exist only during a run: pid files, the socket between agent and API, the register. */
import { accessSync, constants, lstatSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { instanceHash } from './options.mjs';

const isRoot = process.getuid?.() === 0;

/** Folder of the register of instances on this machine. */
export const registryDir = isRoot ? '/run/tollway' : path.join(tmpdir(), `tollway-${process.getuid?.() ?? 'user'}`);

/**
 * Reason why a register is unsafe: another user could write it, and its readers terminate the processes that it names.
 * In a shared folder such as /tmp, anybody may have created it before.
 * @param {string} folder
 * @returns {string | undefined} undefined also when it does not exist
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
 * The agent's socket. It is next to the register, as the data folder may become read-only, and a restarted agent must
 * be able to create the socket.
 * @param {string} dataDir
 */
export const socketOf = (dataDir) => path.join(registryDir, `${instanceHash(dataDir)}.sock`);

/**
 * Whether two paths refer to the same folder, for instance by a symbolic link or a bind mount. @param {string} a @param
 * {string} b
 */
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
 * Removes a file if possible. On failure, for instance on a read-only file system, it is kept: leftovers of one router
 * must not prevent the start of another.
 * @param {string} file
 */
export function removeIfPossible(file) {
  try {
    rmSync(file, { recursive: true, force: true });
  } catch {
    // The file is kept, as described above.
  }
}
