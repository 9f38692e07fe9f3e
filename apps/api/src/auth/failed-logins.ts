import { keepNewest, MAX_RECORDED } from '../database/audit.js';
import type { Database } from '../database/client.js';
import { printable } from '../logging/message.js';

/** Failed logins that are one line in the log and one row of the audit. */
interface FailedLogins {
  readonly user: string;
  readonly address: string;
  readonly text: string;
}

/** Time for which the same failure is only counted after it was logged once, ms. */
const WINDOW_MS = 60_000;
/** Maximum number of different failures that are logged within {@link WINDOW_MS}; further ones are counted together. */
const MAX_LOGGED = 20;

/** Logs failed logins, in at most 41 lines a minute. */
export class FailureReport {
  readonly #report: (failed: FailedLogins) => void;
  readonly #logged = new Map<string, { user: string; address: string; more: number }>();
  #others = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(report: (failed: FailedLogins) => void) {
    this.#report = report;
  }

  add(name: string, address: string): void {
    this.#timer ??= setTimeout(() => this.flush(), WINDOW_MS).unref();
    const user = printable(name).slice(0, 128);
    const key = `${address} ${user}`;
    const logged = this.#logged.get(key);
    if (logged !== undefined) logged.more += 1;
    else if (this.#logged.size >= MAX_LOGGED) this.#others += 1;
    else {
      this.#logged.set(key, { user, address, more: 0 });
      this.#report({ user, address, text: `login failure for user ${user} from ${address}` });
    }
  }

  /** Logs the failures that were only counted. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { user, address, more } of this.#logged.values()) {
      if (more > 0) this.#report({ user, address, text: `${failures(more)} for user ${user} from ${address}` });
    }
    const others = this.#others;
    this.#logged.clear();
    this.#others = 0;
    if (others > 0) {
      this.#report({
        user: '',
        address: '',
        text: `${failures(others)} for other users or from other addresses`,
      });
    }
  }
}

const failures = (more: number): string => `${more} more login ${more === 1 ? 'failure' : 'failures'}`;

export async function recordFailedLogin(db: Database, user: string, address: string, text: string): Promise<void> {
  const action = 'login-failed';
  await db.audit.create({ data: { user, address, action, detail: text } });
  // Anyone can cause these records, so that their number is limited.
  await keepNewest(db, action, MAX_RECORDED);
}
