import { type BigIntStats, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from './client.js';
import { DatabaseFault, faultOf } from './fault.js';
import { descriptorOf, holdsDatabase, isWritable } from './file.js';

/** Interval of checks of the file, ms. */
const CHECK_MS = 2_000;
/**
 * Minimum free space for a small change of a small configuration, bytes: in the database, in the agent's file and in
 * the copy of the rows.
 */
const MIN_FREE = 64 << 10;
/** Unit to which sizes in texts are rounded, bytes, so that the texts do not change all the time. */
const SIZE_UNIT = 1 << 20;

/**
 * Watches the database while it is in use. SQLite itself continues to write to a deleted file, and keeps its cached
 * pages of an overwritten one.
 */
export class DatabaseWatch {
  readonly #file: string;
  readonly #db: Database;
  readonly #inode: bigint | undefined;
  readonly #descriptor: number;
  /** Inode of the write-ahead log. */
  #log: bigint | undefined;
  readonly #freeBytes: (file: string) => number;
  readonly #hasCopies: () => boolean;
  readonly #configBytes: () => number;
  readonly #timer: NodeJS.Timeout;
  #fault: DatabaseFault | undefined;
  /** Set when a statement found damage. It remains set when others succeed, as only a start checks the whole file. */
  #damaged: DatabaseFault | undefined;
  /** Set when a write failed; cleared by a successful write. */
  #unwritten = false;

  /**
   * @param hasCopies whether there are copies to which `--restore` can return
   * @param configBytes size of the agent's configuration file: each change writes a new file besides the active one
   * @param freeBytes free space for a file
   */
  constructor(
    file: string,
    db: Database,
    onFault: (fault: DatabaseFault) => void,
    hasCopies: () => boolean = () => true,
    configBytes: () => number = () => 0,
    freeBytes = freeBytesAt,
  ) {
    this.#hasCopies = hasCopies;
    this.#configBytes = configBytes;
    this.#freeBytes = freeBytes;
    this.#file = file;
    this.#db = db;
    this.#inode = statOf(file)?.ino;
    this.#descriptor = descriptorOf(file);
    this.#log = this.#logInode();
    let reported = '';
    const check = async () => {
      await this.#check();
      const { fault } = this;
      const text = fault?.text ?? '';
      if (fault !== undefined && text !== reported) onFault(fault);
      reported = text;
    };
    this.#timer = setInterval(() => void check(), CHECK_MS).unref();
  }

  /** Present fault of the database. */
  get fault(): DatabaseFault | undefined {
    return this.#fault && this.#named(this.#fault);
  }

  /** The fault, without the remedy `--restore` where there are no copies. */
  #named(fault: DatabaseFault): DatabaseFault {
    return this.#hasCopies() ? fault : fault.withoutCopies();
  }

  /**
   * Refuses writes while the database is at fault. Must be called before anything is written, by the agent too.
   * @throws DatabaseFault when the file is not the one that was opened, or the disk is full.
   */
  refuseIfFaulty(): void {
    const fault = this.#visibleFault();
    // Too little space for the present configuration refuses no write: a smaller configuration may still fit.
    if (fault === undefined || fault.kind === 'no-room') return;
    this.#fault = fault;
    throw this.#named(fault);
  }

  /** Fault shown by an error of a statement; kept until a write succeeds, or the next start. */
  recordError(error: unknown): DatabaseFault | undefined {
    const fault = faultOf(error, this.#file);
    if (fault !== undefined) {
      this.#fault = fault;
      this.#unwritten = true;
      if (fault.kind === 'damaged') this.#damaged = fault;
    }
    return fault && this.#named(fault);
  }

  /** Requests a write test of the database at the next check, because a file next to it could not be written. */
  requestCheck(): void {
    this.#unwritten = true;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const seen = this.#visibleFault();
    // Too little space only prevents a larger configuration, and must not hide another fault.
    const noRoom = seen?.kind === 'no-room' ? seen : undefined;
    const wrong = noRoom === undefined ? (seen ?? this.#damaged) : this.#damaged;
    if (wrong !== undefined) {
      this.#fault = wrong;
      return;
    }
    if (!this.#unwritten) {
      this.#fault = noRoom;
      return;
    }
    try {
      // The value is never read: the write itself is the test.
      await this.#db.$executeRawUnsafe('PRAGMA user_version = 1');
      this.#unwritten = false;
      this.#fault = noRoom;
    } catch (error) {
      const fault = faultOf(error, this.#file);
      // The file has just been read successfully.
      const kind = fault?.kind === 'unreadable' ? 'read-only' : undefined;
      this.#fault = kind === undefined ? (fault ?? this.#fault) : new DatabaseFault(kind, this.#file, '', error);
    }
  }

  /** Fault that can be seen without writing. */
  #visibleFault(): DatabaseFault | undefined {
    try {
      return this.#inspect();
    } catch (error) {
      // For instance an I/O error of the disk, or no free descriptor.
      return faultOf(error, this.#file) ?? new DatabaseFault('unreadable', this.#file, '', error);
    }
  }

  #inspect(): DatabaseFault | undefined {
    const stat = statOf(this.#file);
    if (stat === undefined || stat.ino !== this.#inode) return new DatabaseFault('gone', this.#file);
    if (stat.size === 0n) return new DatabaseFault('empty', this.#file);
    if (!holdsDatabase(this.#descriptor)) return new DatabaseFault('damaged', this.#file);
    const log = this.#logInode();
    this.#log ??= log;
    if (log !== this.#log) return new DatabaseFault('no-log', this.#file);
    // The open file stays writable, but the next start would fail.
    if (!isWritable(this.#file)) return new DatabaseFault('read-only', this.#file);
    const free = this.#freeBytes(this.#file);
    if (free < MIN_FREE) return new DatabaseFault('full', this.#file);
    const need = MIN_FREE + this.#configBytes();
    if (free >= need) return undefined;
    return new DatabaseFault('no-room', this.#file, `it takes up to ${Math.ceil(need / SIZE_UNIT)} MiB`);
  }

  #logInode(): bigint | undefined {
    return statOf(`${this.#file}-wal`)?.ino;
  }
}

function statOf(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

/** Space on the file system of a file that is available to this user, bytes. Some file systems report none. */
function freeBytesAt(file: string): number {
  try {
    const { bsize, blocks, bfree, bavail } = statfsSync(dirname(file));
    return blocks === 0 ? Number.POSITIVE_INFINITY : bsize * (process.getuid?.() === 0 ? bfree : bavail);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
