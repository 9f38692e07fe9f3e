import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../errors.js';
import { type Destination, datedLine, type LogMessage, type Report } from './message.js';
import { Reports } from './reports.js';
import type { DiskSettings } from './settings.js';

/** Maximum size of the text that waits to be written, characters; messages beyond it are dropped. */
const MAX_WAITING = 4 << 20;
/** Interval of retries while writing fails, and of checks whether the file is still at its path, ms. */
const RETRY_MS = 5_000;
/** Links are not followed, as they could lead out of the folder. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

const NEWLINE = 0x0a;

/** The file to which messages are appended. */
interface OpenFile {
  readonly handle: FileHandle;
  readonly inode: number;
  lines: number;
  /** Size of the complete lines in the file, bytes. */
  size: number;
}

/** Folder of the files, in the data folder. */
export const logFolder = (dataDir: string): string => join(dataDir, 'log');

/**
 * Writes messages to files: `NAME.0.txt` is the newest, and when it is full, each gets the next number and the last one
 * is deleted. Callers do not wait for the disk; while writing fails, messages are dropped and counted.
 */
export class DiskLog implements Destination {
  readonly #folder: string;
  readonly #settings: DiskSettings;
  readonly #reports: Reports;
  readonly #report: Report;
  #waiting: string[] = [];
  #waitingSize = 0;
  #writing: Promise<void>;
  #isWriting = false;
  #file: OpenFile | undefined;
  /** True when all files are full and nothing more is written. */
  #isFull = false;
  #isClosed = false;
  /** Time of the next attempt to write, by `performance.now()`. */
  #retryAt = 0;
  #checkedAt = 0;

  /** @param after resolves when another action has stopped using the files */
  constructor(folder: string, settings: DiskSettings, report: Report, after: Promise<unknown> = Promise.resolve()) {
    this.#folder = folder;
    this.#settings = settings;
    this.#report = report;
    this.#reports = new Reports(report);
    this.#writing = after.then(
      () => undefined,
      () => undefined,
    );
  }

  write(message: LogMessage): void {
    if (this.#isClosed || this.#isFull) return;
    if (this.#waitingSize >= MAX_WAITING || performance.now() < this.#retryAt) {
      this.#reports.dropped();
      return;
    }
    const line = `${datedLine(message)}\n`;
    this.#waiting.push(line);
    this.#waitingSize += line.length;
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#writing = this.#writing.then(() => this.#writeAll());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    await this.#closeFile();
  }

  #path(number: number): string {
    return join(this.#folder, `${this.#settings.fileName}.${number}.txt`);
  }

  async #writeAll(): Promise<void> {
    let failure: { readonly why: string } | undefined;
    try {
      while (this.#waiting.length > 0 && !this.#isFull) await this.#writeSome();
    } catch (error) {
      failure = { why: reasonOf(error, this.#path(0)) };
      this.#retryAt = performance.now() + RETRY_MS;
      await this.#closeFile();
      this.#reports.dropped(this.#waiting.length);
    }
    this.#waiting = [];
    this.#waitingSize = 0;
    this.#isWriting = false;
    // The report may itself be a message to this file.
    if (failure === undefined) this.#reports.works();
    else this.#reports.fails(`${failure.why}; messages are dropped until it can be written`);
  }

  /** Writes as many of the waiting lines as fit into the file. */
  async #writeSome(): Promise<void> {
    const { linesPerFile } = this.#settings;
    let file = await this.#openFile();
    if (file.lines >= linesPerFile) {
      await this.#rotate();
      if (this.#isFull) return;
      file = await this.#openFile();
    }
    const lines = this.#waiting.slice(0, linesPerFile - file.lines);
    const bytes = Buffer.from(lines.join(''));
    try {
      await file.handle.appendFile(bytes);
    } catch (error) {
      // A partial line would be joined with the next one.
      await file.handle.truncate(file.size).catch(() => undefined);
      throw error;
    }
    file.lines += lines.length;
    file.size += bytes.length;
    this.#waiting = this.#waiting.slice(lines.length);
    this.#waitingSize -= lines.reduce((sum, line) => sum + line.length, 0);
  }

  async #openFile(): Promise<OpenFile> {
    const path = this.#path(0);
    if (this.#file !== undefined && performance.now() - this.#checkedAt >= RETRY_MS) {
      this.#checkedAt = performance.now();
      // The file may have been moved.
      if ((await stat(path).catch(() => undefined))?.ino !== this.#file.inode) await this.#closeFile();
    }
    if (this.#file !== undefined) return this.#file;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const handle = await open(path, APPEND, 0o600);
    try {
      const { ino: inode } = await handle.stat();
      const { lines, size } = await linesOf(path);
      // A power failure may have cut off the last line.
      await handle.truncate(size);
      this.#checkedAt = performance.now();
      this.#file = { handle, inode, lines, size };
      return this.#file;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close().catch(() => undefined);
  }

  /** Renames each file to the next number; deletes the last file and any beyond it. */
  async #rotate(): Promise<void> {
    const { fileName, fileCount, stopOnFull } = this.#settings;
    const begin = `${fileName}.`;
    const numbers = (await readdir(this.#folder))
      .filter((name) => name.startsWith(begin) && /^\d{1,9}\.txt$/.test(name.slice(begin.length)))
      .map((name) => Number.parseInt(name.slice(begin.length), 10))
      .sort((a, b) => b - a);
    if (stopOnFull && numbers.filter((number) => number < fileCount).length >= fileCount) {
      this.#isFull = true;
      this.#report('warning', `all ${fileCount} files are full; nothing more is written`);
      return;
    }
    await this.#closeFile();
    for (const number of numbers) {
      if (number + 1 >= fileCount) await rm(this.#path(number), { force: true });
      else await rename(this.#path(number), this.#path(number + 1));
    }
  }
}

/** Number of complete lines of a file, and their size, bytes. */
async function linesOf(path: string): Promise<{ lines: number; size: number }> {
  let [lines, size, read] = [0, 0, 0];
  for await (const chunk of createReadStream(path)) {
    if (!Buffer.isBuffer(chunk)) continue;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
      lines += 1;
      size = read + at + 1;
    }
    read += chunk.length;
  }
  return { lines, size };
}

function reasonOf(error: unknown, path: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') return `the disk is full: ${path} takes nothing`;
  return `${path} cannot be written: ${messageOf(error)}`;
}
