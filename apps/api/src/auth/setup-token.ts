import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';

/** The token that lets one browser set the first password. It lies in a file that only root can read. */
export class SetupToken {
  readonly #file: string;
  #token: string | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  async issue(): Promise<void> {
    this.#token = randomBytes(16).toString('hex');
    await rm(this.#file, { force: true });
    await writeFile(this.#file, this.#token, { mode: 0o600, flag: 'wx' });
  }

  matches(token: string): boolean {
    const expected = Buffer.from(this.#token ?? '');
    const given = Buffer.from(token);
    return expected.length > 0 && given.length === expected.length && timingSafeEqual(given, expected);
  }

  async revoke(): Promise<void> {
    this.#token = undefined;
    await rm(this.#file, { force: true });
  }
}
