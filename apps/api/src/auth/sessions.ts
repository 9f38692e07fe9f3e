import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '../database/client.js';
import { unlessFault } from '../database/fault.js';

/** Lifetime of a session, ms. */
export const SESSION_MS = 7 * 24 * 3600 * 1000;

/** Time between two attempts to store that sessions have ended, ms. */
const RETRY_MS = 5_000;

/** Maximum number of sessions of one user; when there are more, the oldest one ends. */
const MAX_OF_USER = 64;

export interface Session {
  /** SHA-256 of the cookie's token, hex: a copy of the database does not suffice to log in. */
  readonly key: string;
  readonly userId: number;
  /** Address that the login came from. */
  readonly address: string;
  readonly expiresAt: number;
}

/** Browser sessions. All of them are kept in memory; the database restores them after a restart. */
export class Sessions {
  readonly #db: Database;
  readonly #sessions = new Map<string, Session>();
  readonly #ended: ((key: string) => void)[] = [];
  /** Ended sessions that could not be deleted from the database yet. */
  readonly #left = new Set<string>();
  #retryTimer: NodeJS.Timeout | undefined;

  private constructor(db: Database) {
    this.#db = db;
  }

  static async open(db: Database): Promise<Sessions> {
    const sessions = new Sessions(db);
    await db.session.deleteMany({ where: { expiresAt: { lte: new Date() } } });
    for (const { tokenHash, userId, expiresAt, address } of await db.session.findMany({
      orderBy: { expiresAt: 'asc' },
    })) {
      sessions.#sessions.set(tokenHash, { key: tokenHash, userId, expiresAt: expiresAt.getTime(), address });
    }
    return sessions;
  }

  /** Registers a listener that is called when a session is ended or expires. */
  onEnd(listener: (key: string) => void): void {
    this.#ended.push(listener);
  }

  /** Begins a session and returns the token for the cookie. */
  async begin(userId: number, address: string): Promise<string> {
    await this.#makeRoom(userId);
    const token = randomBytes(32).toString('base64url');
    const key = keyOf(token);
    const expiresAt = Date.now() + SESSION_MS;
    const data = { tokenHash: key, userId, expiresAt: new Date(expiresAt), address };
    // Logins work while the disk is full; the session then ends with this process.
    await this.#db.session.create({ data }).catch(unlessFault);
    this.#sessions.set(key, { key, userId, expiresAt, address });
    return token;
  }

  /** Ends expired sessions, and the oldest ones of a user at the limit. */
  async #makeRoom(userId: number): Promise<void> {
    const now = Date.now();
    const over = this.list().filter(({ expiresAt }) => expiresAt <= now);
    const own = this.list().filter((session) => session.userId === userId && session.expiresAt > now);
    const oldest = own.slice(0, Math.max(0, own.length - MAX_OF_USER + 1));
    for (const { key } of [...over, ...oldest]) await this.end(key);
  }

  find(token: string): Session | undefined {
    const session = this.#sessions.get(keyOf(token));
    if (session === undefined || session.expiresAt > Date.now()) return session;
    this.end(session.key).catch(() => undefined);
    return undefined;
  }

  /** All sessions that have not ended. */
  list(): Session[] {
    return [...this.#sessions.values()];
  }

  alive(key: string): boolean {
    const session = this.#sessions.get(key);
    return session !== undefined && session.expiresAt > Date.now();
  }

  /**
   * Ends a session. `false`: it could not be deleted from the database, so that it would be valid again after a restart;
   * deletion is retried.
   */
  async end(key: string): Promise<boolean> {
    if (!this.#sessions.delete(key)) return !this.#left.has(key);
    for (const listener of this.#ended) listener(key);
    this.#left.add(key);
    await this.#forgetLeft();
    return !this.#left.has(key);
  }

  /** Retries the deletion of ended sessions. */
  async close(): Promise<void> {
    if (this.#left.size > 0) await this.#forgetLeft();
    clearTimeout(this.#retryTimer);
  }

  /** Deletes ended sessions from the database that could not be deleted before. */
  async #forgetLeft(): Promise<void> {
    clearTimeout(this.#retryTimer);
    const keys = [...this.#left];
    try {
      await this.#db.session.deleteMany({ where: { tokenHash: { in: keys } } });
      for (const key of keys) this.#left.delete(key);
    } catch (error) {
      unlessFault(error);
      this.#retryTimer = setTimeout(() => void this.#forgetLeft().catch(() => undefined), RETRY_MS).unref();
    }
  }

  /** Ends a user's sessions, but not the one with key `except`. */
  async endAllOf(userId: number, except?: string): Promise<void> {
    const keys = [...this.#sessions.values()]
      .filter((session) => session.userId === userId && session.key !== except)
      .map(({ key }) => key);
    await Promise.all(keys.map((key) => this.end(key)));
  }
}

function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
