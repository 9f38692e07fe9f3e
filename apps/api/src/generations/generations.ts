import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { StoredSnapshot } from '../config/draft.js';
import type { Committed } from '../config/store.js';
import { messageOf } from '../errors.js';
import { baseLines, changeLine, type KeptUsers, type RowsFile, readRows, usersLine } from './rows-file.js';

/**
 * Maximum number of revisions that can be restored, the same as in the history. Revisions are counted instead of files,
 * as each start may begin another file.
 */
const REVISIONS = 1000;
/** Size limit of all files, bytes; the newest two are kept whatever their size. */
const BYTES = 64 << 20;
/**
 * Size of the appended changes after which the whole configuration is written to a new file, bytes, unless that is
 * larger itself.
 */
const CHANGES_BYTES = 4 << 20;
/** Interval of retries while writing fails, ms. */
const RETRY_MS = 5_000;
/** Interval of checks whether the file is still at its path, ms. */
const CHECK_MS = 5_000;

/**
 * File with the number of changes of users, apart from the copies: such changes make no revision, and the number shows whether
 * a folder of copies lacks some, or is an older one.
 */
const userChangesFile = (dataDir: string): string => join(dataDir, 'users.changes');

/** Number of changes of users in that file; undefined when it is missing or damaged. */
export function recordedUserChanges(dataDir: string): number | undefined {
  try {
    // Limits the number of digits to more than any router needs.
    const number = /^(\d{1,12})\n$/.exec(readFileSync(userChangesFile(dataDir), 'utf8'))?.[1];
    return number === undefined ? undefined : Number(number);
  } catch {
    return undefined;
  }
}

export const generationsFolder = (dataDir: string): string => join(dataDir, 'generations');

/** Source of the configuration and of the users. */
interface Source {
  /** Identity of the database. */
  readonly database: string;
  readonly store: { readonly revision: number; readonly lastId: number; readonly snapshot: StoredSnapshot };
  users(): KeptUsers;
  log(message: string): void;
}

/**
 * Writes the rows of each revision to files beside the database. A write failure is logged and does not prevent
 * commits. All rows are written as soon as writing works again, so that a restore does not bring back removed users and
 * old passwords.
 */
export class Generations {
  readonly #folder: string;
  readonly #userChanges: string;
  readonly #source: Source;
  #file: number | undefined;
  /** Path of the current file. */
  #path = '';
  #bytes = 0;
  #baseBytes = 0;
  /** Lines that were added while a whole configuration is being written; they are appended to the new file. */
  #meanwhile: string[] | undefined;
  #problem: string | undefined;
  #again: NodeJS.Timeout | undefined;
  readonly #timer = setInterval(() => this.#checkFile(), CHECK_MS).unref();
  #closed = false;

  constructor(dataDir: string, source: Source) {
    this.#folder = generationsFolder(dataDir);
    this.#userChanges = userChangesFile(dataDir);
    this.#source = source;
  }

  /** Reason why the newest revision could not be written; undefined when it was. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Writes the whole configuration, then the commits made meanwhile. */
  async begin(): Promise<void> {
    if (this.#meanwhile !== undefined || this.#closed) return;
    clearTimeout(this.#again);
    const { database, store } = this.#source;
    const { revision, lastId, snapshot } = store;
    this.#meanwhile = [];
    const path = join(this.#folder, `${revision}.rows`);
    try {
      // Parent folders are not created: a data folder that was moved away must not be created again.
      if (!existsSync(this.#folder)) mkdirSync(this.#folder, { mode: 0o700 });
      const file = await open(`${path}.new`, 'w', 0o600);
      let bytes = 0;
      try {
        for (const lines of baseLines(database, revision, lastId, snapshot, this.#source.users())) {
          bytes += (await file.write(lines)).bytesWritten;
          await turn();
        }
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.new`, path);
      this.#end();
      if (this.#closed) return;
      this.#file = openSync(path, 'a', 0o600);
      this.#path = path;
      this.#baseBytes = bytes;
      this.#bytes = 0;
      const lines = this.#meanwhile;
      this.#meanwhile = undefined;
      this.#problem = undefined;
      this.#noteUserChanges();
      for (const line of lines) this.#append(line);
      await this.#prune();
    } catch (error) {
      await rm(`${path}.new`, { force: true }).catch(() => undefined);
      this.#meanwhile = undefined;
      this.#failed(error);
    }
  }

  /** Writes the changes of a revision. */
  committed({ revision, author, summary, changes }: Committed): void {
    const head = { revision, time: new Date().toISOString(), author: author.name, summary };
    this.#note(changeLine(head, this.#source.store.lastId, changes));
  }

  usersChanged(): void {
    this.#noteUserChanges();
    this.#note(usersLine(this.#source.users()));
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#again);
    clearInterval(this.#timer);
    this.#end();
  }

  /** Begins a new file when the current one was removed, for instance together with the data folder. */
  #checkFile(): void {
    if (this.#file === undefined || this.#meanwhile !== undefined) return;
    try {
      if (!this.#isInPlace(this.#file)) void this.begin();
      else accessSync(this.#folder, constants.W_OK | constants.X_OK);
    } catch (error) {
      this.#failed(error);
    }
  }

  #end(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #note(line: string): void {
    this.#meanwhile?.push(line);
    const whole = this.#file !== undefined && this.#problem === undefined && this.#append(line);
    // After a failed write the file has a gap, so that the whole configuration must be written.
    if (!whole || this.#bytes > Math.max(CHANGES_BYTES, this.#baseBytes)) void this.begin();
  }

  /** `false`: the line could not be written. */
  #append(line: string): boolean {
    if (this.#file === undefined) return false;
    try {
      if (!this.#isInPlace(this.#file)) return false;
      const bytes = Buffer.from(line);
      if (writeSync(this.#file, bytes) !== bytes.length) throw new Error('the disk is full');
      this.#bytes += bytes.length;
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  /** Whether the file is still at its path: writes into a removed or moved file are lost. */
  #isInPlace(file: number): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
  }

  #failed(error: unknown): void {
    const why = messageOf(error);
    const text = `A copy of the configuration cannot be kept in ${this.#folder}: ${why}.`;
    if (this.#problem !== text) this.#source.log(text);
    this.#problem = text;
    clearTimeout(this.#again);
    if (!this.#closed) this.#again = setTimeout(() => void this.begin(), RETRY_MS).unref();
  }

  #noteUserChanges(): void {
    try {
      writeFileSync(`${this.#userChanges}.new`, `${this.#source.users().changes}\n`, { mode: 0o600, flush: true });
      renameSync(`${this.#userChanges}.new`, this.#userChanges);
    } catch {
      // If this file cannot be written, changes of users cannot be stored either.
    }
  }

  async #prune(): Promise<void> {
    const oldest = this.#source.store.revision - REVISIONS;
    let bytes = 0;
    // The revisions of a file end where those of the next newer file begin.
    let until = Number.POSITIVE_INFINITY;
    for (const [place, name] of rowsFiles(this.#folder).entries()) {
      const path = join(this.#folder, name);
      bytes += (await stat(path)).size;
      if (place > 1 && (bytes > BYTES || until <= oldest)) await rm(path, { force: true });
      until = Number.parseInt(name, 10);
    }
  }
}

/** Names of the files, the newest first. */
function rowsFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+\.rows$/.test(name))
      .sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10));
  } catch {
    return [];
  }
}

/**
 * The readable generation files, newest first. Files whose first configuration is damaged are skipped. Each file is
 * read on demand.
 */
export function* keptGenerations(dataDir: string): Generator<RowsFile, void> {
  const folder = generationsFolder(dataDir);
  for (const name of rowsFiles(folder)) {
    const file = readFile(join(folder, name));
    if (file !== undefined) yield file;
  }
}

function readFile(path: string): RowsFile | undefined {
  try {
    return readRows(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Damaged files with the newest content, newest first, down to the newest readable file, which is included if its end
 * is damaged: the revisions and users in the damaged parts are unknown.
 */
export function newestDamagedFiles(dataDir: string): readonly string[] {
  const folder = generationsFolder(dataDir);
  const damaged: string[] = [];
  for (const name of rowsFiles(folder)) {
    const file = readFile(join(folder, name));
    if (file?.isWhole !== true) damaged.push(join(folder, name));
    if (file !== undefined) break;
  }
  return damaged;
}

/** Whether a user is in group full and can log in. */
export const isUsableFullUser = (user: KeptUsers['users'][number]): boolean =>
  user.group === 'full' && !user.disabled && user.passwordHash !== null;

/**
 * Whether the newest copies contain no user of group full who can log in, although users have changed since. Restoring
 * them would let anyone set the first password again.
 */
export const predatesFullUsers = (dataDir: string, { users: { users, changes } }: RowsFile): boolean =>
  !users.some(isUsableFullUser) && (recordedUserChanges(dataDir) ?? 0) > changes;

/** Whether users may have changed since the newest copy. */
export const mayMissUserChanges = (dataDir: string, { changes }: KeptUsers): boolean =>
  (recordedUserChanges(dataDir) ?? Number.POSITIVE_INFINITY) > changes;

/** The newest readable file, which has the newest known generation and the users of that time. */
export function newestKept(dataDir: string): RowsFile | undefined {
  const [newest] = keptGenerations(dataDir);
  return newest;
}

/** Whether there is any file, even a damaged one. The first file of a router begins with revision 0. */
export const hasCopies = (dataDir: string): boolean => rowsFiles(generationsFolder(dataDir)).length > 0;

/** The first revision of the newest file, even if the file cannot be read; 0 without any file. */
export const firstRevisionOfNewest = (dataDir: string): number =>
  Number.parseInt(rowsFiles(generationsFolder(dataDir))[0] ?? '0', 10);

/** The last revision of a file; 0 without a file. */
export const lastRevisionOf = (file: RowsFile | undefined): number => file?.heads.at(-1)?.revision ?? 0;
