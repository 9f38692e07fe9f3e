import { randomBytes, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';

/** The token with which one browser sets the first password, in a file that only root can read. */
export class SetupToken {
  readonly #file: string;
  #token: string | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** A token from before this process started stays valid, as its link may be in use. */
  async issue(): Promise<void> {
    const before = await this.#issued();
    if (before !== undefined) {
      this.#token = before;
      return;
    }
    this.#token = randomBytes(16).toString('hex');
    await rm(this.#file, { force: true });
    await writeFile(this.#file, this.#token, { mode: 0o600, flag: 'wx' });
  }

  /** Token in the file; undefined when others may have written or read the file. */
  async #issued(): Promise<string | undefined> {
    const file = await open(this.#file, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      const { uid, mode } = await file.stat();
      const own = (mode & 0o077) === 0 && uid === process.getuid?.();
      const text = own ? (await file.readFile('utf8')).trim() : '';
      return /^[0-9a-f]{32}$/.test(text) ? text : undefined;
    } finally {
      await file.close();
    }
  }

  matches(token: string): boolean {
    const expected = Buffer.from(this.#token ?? '');
    const given = Buffer.from(token);
    return expected.length > 0 && given.length === expected.length && timingSafeEqual(given, expected);
  }

  /**
   * Runs `work` if the token is right. The token is invalid meanwhile and afterwards; it becomes valid again when
   * `work` fails.
   * Returns `undefined` for a wrong token.
   */
  async use<T>(token: string, work: () => Promise<T>): Promise<T | undefined> {
    if (!this.matches(token)) return undefined;
    this.#token = undefined;
    let result: T;
    try {
      result = await work();
    } catch (error) {
      this.#token = token;
      throw error;
    }
    await this.revoke();
    return result;
  }

  async revoke(): Promise<void> {
    this.#token = undefined;
    // A file that cannot be removed does no harm: with a password set, the token is invalid.
    await rm(this.#file, { force: true }).catch(() => undefined);
  }
}
