import { type BigIntStats, statSync } from 'node:fs';
import type { Database } from './client.js';
import { DatabaseFault, faultOf } from './fault.js';
import { startsAsDatabase } from './stored.js';

/** How often the file is looked at, ms. */
const LOOK_MS = 2_000;

/**
 * Watches the database while it is in use. SQLite itself goes on writing into a file that has been deleted, and keeps
 * what it has read of one that was overwritten.
 */
export class DatabaseWatch {
  readonly #file: string;
  readonly #db: Database;
  readonly #inode: bigint | undefined;
  readonly #timer: NodeJS.Timeout;
  #fault: DatabaseFault | undefined;
  /** A write failed; only one that succeeds says that it is over. */
  #unwritten = false;

  constructor(file: string, db: Database, onFault: (fault: DatabaseFault) => void) {
    this.#file = file;
    this.#db = db;
    this.#inode = statOf(file)?.ino;
    let told = '';
    const look = async () => {
      await this.#look();
      const text = this.#fault?.text ?? '';
      if (this.#fault !== undefined && text !== told) onFault(this.#fault);
      told = text;
    };
    this.#timer = setInterval(() => void look(), LOOK_MS).unref();
  }

  /** What is wrong with it now. */
  get fault(): DatabaseFault | undefined {
    return this.#fault;
  }

  /** @throws DatabaseFault when the file is not the one that was opened, before anything is written to it. */
  refuse(): void {
    const fault = this.#lost();
    if (fault === undefined) return;
    this.#fault = fault;
    throw fault;
  }

  /** What an error of a statement says about the database; noted until a write succeeds. */
  failed(error: unknown): DatabaseFault | undefined {
    const fault = faultOf(error, this.#file);
    if (fault !== undefined) {
      this.#fault = fault;
      this.#unwritten = true;
    }
    return fault;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const lost = this.#lost();
    if (lost !== undefined) {
      this.#fault = lost;
      return;
    }
    if (!this.#unwritten) {
      this.#fault = undefined;
      return;
    }
    try {
      // Nobody reads this number; that it can be written is what matters.
      await this.#db.$executeRawUnsafe('PRAGMA user_version = 1');
      this.#unwritten = false;
      this.#fault = undefined;
    } catch (error) {
      this.#fault = faultOf(error, this.#file) ?? this.#fault;
    }
  }

  #lost(): DatabaseFault | undefined {
    const stat = statOf(this.#file);
    if (stat === undefined || stat.ino !== this.#inode) return new DatabaseFault('gone', this.#file);
    if (stat.size === 0n) return new DatabaseFault('empty', this.#file);
    return startsAsDatabase(this.#file) ? undefined : new DatabaseFault('damaged', this.#file);
  }
}

function statOf(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}
