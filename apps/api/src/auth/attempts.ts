/** Failed logins allowed from one address for one user within {@link WINDOW_MS}. */
export const MAX_PER_USER = 10;
/** Failed logins allowed from one address within {@link WINDOW_MS}. */
export const MAX_PER_ADDRESS = 30;
const WINDOW_MS = 60_000;
/** Bound of the table: the oldest are forgotten first. */
const MAX_KEYS = 10_000;

/** Counts failed logins. Successes are not counted and never held up by other people's failures elsewhere. */
export class Attempts {
  readonly #failures = new Map<string, number[]>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * Begins a try. It counts as failed until {@link succeeded}, so that tries at the same time count too.
   * @returns seconds until a try is allowed; 0 when this one is.
   */
  begin(address: string, user: string): number {
    const wait = Math.max(
      this.#waitFor(`a ${address}`, MAX_PER_ADDRESS),
      this.#waitFor(`u ${address} ${user}`, MAX_PER_USER),
    );
    if (wait <= 0) this.#count(address, user);
    return wait;
  }

  #count(address: string, user: string): void {
    for (const key of [`a ${address}`, `u ${address} ${user}`]) {
      const recent = this.#recent(key);
      recent.push(this.#now());
      this.#failures.delete(key);
      this.#failures.set(key, recent);
    }
    for (const key of this.#failures.keys()) {
      if (this.#failures.size <= MAX_KEYS) break;
      this.#failures.delete(key);
    }
  }

  /** The try was none that failed; the user's earlier failures are forgotten. */
  succeeded(address: string, user: string): void {
    this.#failures.get(`a ${address}`)?.pop();
    this.#failures.delete(`u ${address} ${user}`);
  }

  #waitFor(key: string, limit: number): number {
    const recent = this.#recent(key);
    const first = recent.at(-limit);
    return first === undefined ? 0 : (first + WINDOW_MS - this.#now()) / 1000;
  }

  #recent(key: string): number[] {
    const since = this.#now() - WINDOW_MS;
    return (this.#failures.get(key) ?? []).filter((time) => time > since);
  }
}
