import { accessSync, constants, openSync, readSync, statSync } from 'node:fs';

/** The file of the database, without SQLite. */

/** Path of a database by its URL, `file:/path`. */
export const databaseFile = (url: string): string => url.replace(/^file:(\/\/(?=\/))?/, '');

/** Signature of a file, which changes with each change of the file, or with its replacement by another file. */
export function signatureOf(file: string): string {
  return ['', '-wal']
    .map((end) => statSync(file + end, { bigint: true, throwIfNoEntry: false }))
    .map((stat) => (stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs}`))
    .join(' ');
}

/** First bytes of each database (SQLite's file format, §1.3). */
const MAGIC = 'SQLite format 3\0';

/** Whether permissions and the file system permit writes to a file. */
export function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Descriptors of the examined files, by device and inode. */
const descriptors = new Map<string, number>();

/** The descriptor by which this process reads a file; it is never closed, see {@link holdsDatabase}. */
export function descriptorOf(file: string): number {
  const { dev, ino } = statSync(file, { bigint: true });
  const inode = `${dev}:${ino}`;
  const descriptor = descriptors.get(inode) ?? openSync(file, 'r');
  descriptors.set(inode, descriptor);
  return descriptor;
}

/**
 * Whether an open file begins like a database. A process that closes any descriptor of a file loses all its locks on
 * the file (fcntl(2)), including those of SQLite: other processes would assume that they are its only users, and remove
 * its WAL.
 */
export function holdsDatabase(descriptor: number): boolean {
  const start = Buffer.alloc(MAGIC.length);
  return readSync(descriptor, start, 0, start.length, 0) === start.length && start.toString('latin1') === MAGIC;
}

/**
 * Whether a file begins like a database. Connections of an earlier attempt may still be open, as the driver closes them
 * at garbage collection: therefore the descriptor stays open, see {@link holdsDatabase}.
 */
export const startsAsDatabase = (file: string): boolean => holdsDatabase(descriptorOf(file));
