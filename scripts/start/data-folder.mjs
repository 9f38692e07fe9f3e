// @ts-check
/** The data folder contains password hashes, sessions and the configuration: only its owner may access it. */
import { accessSync, chmodSync, constants, existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../process.mjs';
import { makeFolder, UserError } from '../project.mjs';
import { isReadOnly, isReadOnlyError, runDir } from './paths.mjs';
import { isSetUp } from './services.mjs';

/** Names of Tollway's files in its data folder; nothing else there is touched. */
const OWN = /^(run|log|agent|generations|users\.changes.*|traffic\.json.*|tollway\.db.*)$/;

/**
 * Creates the folder, or sets the modes of an existing one and of Tollway's files in it to 0700 and 0600. The folder of
 * a router that has been set up may be read-only.
 * @param {string} dataDir
 * @throws UserError (exit code 2) when it cannot be used, its mode cannot be set, or it contains files of another user
 */
export function prepareDataDir(dataDir) {
  try {
    makeFolder(dataDir, 0o700);
    closeToOthers(dataDir);
    requireFolders(dataDir);
    // A router with a configuration forwards nevertheless; the API reports what cannot be stored.
    if (isSetUp(dataDir) && [dataDir, runDir(dataDir)].some(isReadOnly)) return;
    makeFolder(runDir(dataDir), 0o700);
    accessSync(runDir(dataDir), constants.W_OK);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const why = messageOf(error);
    throw new UserError(`--data-dir ${dataDir} cannot be used: ${why}`, 2);
  }
}

/**
 * Returns a check that gives the reason why no process may be started now: without the folder, a started process would
 * create a new folder with another router in it. A folder that was restored from a copy is accepted.
 * @param {string} dataDir
 * @returns {() => string | undefined}
 */
export function sameFolder(dataDir) {
  const inode = () => statSync(dataDir, { bigint: true, throwIfNoEntry: false })?.ino;
  const first = inode();
  return () =>
    inode() === first || isSetUp(dataDir) || existsSync(path.join(dataDir, 'tollway.db'))
      ? undefined
      : `the data folder ${dataDir} is gone, put it back`;
}

/** Checks that the folders that the router needs exist, before something fails without them. @param {string} dataDir */
function requireFolders(dataDir) {
  for (const folder of ['run', 'log', 'agent'].map((name) => path.join(dataDir, name))) {
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) continue;
    // A link may have no target.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new UserError(`${folder} is no folder: move it away, then give the same command again`, 2);
    }
  }
}

/** @param {string} dataDir */
function closeToOthers(dataDir) {
  const names = readdirSync(dataDir);
  const foreign = names.find((name) => !OWN.test(name));
  const { uid } = statSync(dataDir);
  if (uid !== process.getuid?.()) {
    throw new UserError(
      `--data-dir ${dataDir} belongs to another user (uid ${uid}), who could read all that is in it: chown it, or give another folder`,
      2,
    );
  }
  if (isOpen(dataDir)) {
    // Closing a folder such as /tmp to other users would break their programs.
    if (foreign !== undefined) {
      throw new UserError(
        `--data-dir ${dataDir} is open to other users and holds ${foreign}, which is not Tollway's: give a folder of its own`,
        2,
      );
    }
    close(dataDir, 0o700);
  }
  for (const name of names) if (OWN.test(name)) closeTree(path.join(dataDir, name));
}

/**
 * @param {string} file
 * @throws UserError when it, or what is below it, belongs to another user: while the folder was open he may have put there
 * a database, with users and a configuration of his own.
 */
function closeTree(file) {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.uid !== process.getuid?.()) {
    throw new UserError(
      `${file} belongs to another user (uid ${stat.uid}), who may have put it there: chown it if it is yours, or move it away`,
      2,
    );
  }
  if (stat.isSymbolicLink()) return;
  if ((stat.mode & 0o077) !== 0) close(file, stat.isDirectory() ? 0o700 : 0o600);
  if (stat.isDirectory()) for (const name of readdirSync(file)) closeTree(path.join(file, name));
}

/** @param {string} file @param {number} mode */
function close(file, mode) {
  try {
    chmodSync(file, mode);
  } catch (error) {
    if (!isReadOnlyError(error)) throw error;
    console.error(`${file} stays open to others: its file system is read-only`);
  }
}

/** The mode of a link itself is irrelevant. @param {string} folder */
const isOpen = (folder) => (statSync(folder).mode & 0o077) !== 0;
