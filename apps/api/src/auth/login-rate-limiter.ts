import { errors } from '../errors.js';
import { isLoopback, networkOf } from './address.js';

/** Rate at which logins may fail: `burst` at once, then one every `everyMs`. */
interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

export interface LoginLimits {
  /** Limit per address (of IPv6, one /64). */
  readonly address: Rate;
  /** Limit per user name. */
  readonly account: Rate;
  /** Limit of all logins together. */
  readonly overall: Rate;
  /** Limit for a user from an address of an earlier login of that user, independent of all other attempts. */
  readonly known: Rate;
  /** Longest delay of a login, ms; one that would have to wait longer is refused. */
  readonly maxWaitMs: number;
  /** Logins that wait at the same time, from one address and in all. */
  readonly maxWaitingPerAddress: number;
  readonly maxWaiting: number;
}

export const LOGIN_LIMITS: LoginLimits = {
  address: { burst: 10, everyMs: 3_000 },
  account: { burst: 20, everyMs: 3_000 },
  overall: { burst: 60, everyMs: 500 },
  known: { burst: 10, everyMs: 3_000 },
  maxWaitMs: 15_000,
  maxWaitingPerAddress: 5,
  maxWaiting: 64,
};

/** Size limit of the tables; the oldest entries are removed first. */
const MAX_KEYS = 10_000;

/** A login attempt. */
interface Attempt {
  /** Ends a successful attempt: it does not count as failed, and the address becomes known. */
  succeeded(): void;
}

/**
 * Rate limiting of failed logins. An attempt counts as failed from its start, so that parallel attempts count as well.
 * Waiting attempts are few and short, so that they cost attackers more than the router. A user has a separate budget at known
 * addresses, so that attempts from elsewhere cannot lock that user out.
 */
export class LoginRateLimiter {
  readonly #limits: LoginLimits;
  readonly #buckets = new Map<string, number>();
  readonly #known = new Set<string>();
  readonly #waiting = new Map<string, number>();
  #allWaiting = 0;

  constructor(limits: LoginLimits = LOGIN_LIMITS) {
    this.#limits = limits;
  }

  /** Records a successful login of a user from an address. */
  remember(address: string, user: string): void {
    const key = `${networkOf(address)} ${user}`;
    this.#known.delete(key);
    this.#known.add(key);
    for (const oldest of this.#known) {
      if (this.#known.size <= MAX_KEYS) break;
      this.#known.delete(oldest);
    }
  }

  /**
   * Waits until an attempt is allowed.
   * @param gone aborted when the client no longer waits for the answer.
   * @throws ApiError 429 when that would take too long, or too many wait.
   */
  async begin(address: string, user: string, gone?: AbortSignal): Promise<Attempt> {
    const network = networkOf(address);
    const buckets = this.#bucketsOf(network, address, user);
    const waitMs = Math.max(0, ...buckets.map(({ key, rate }) => this.#waitFor(key, rate)));
    if (waitMs > this.#limits.maxWaitMs) throw errors.tooManyAttempts(waitMs / 1000);
    if (waitMs > 0) this.#refuseTooManyWaiting(network);
    for (const { key, rate } of buckets) this.#take(key, rate);
    const refund = () => {
      for (const { key, rate } of buckets) this.#refund(key, rate);
    };
    if (waitMs > 0 && !(await this.#wait(network, waitMs, gone))) {
      refund();
      throw errors.tooManyAttempts(waitMs / 1000);
    }
    return {
      succeeded: () => {
        refund();
        this.remember(address, user);
      },
    };
  }

  #bucketsOf(network: string, address: string, user: string): { key: string; rate: Rate }[] {
    const limits = this.#limits;
    if (this.#known.has(`${network} ${user}`)) return [{ key: `known ${network} ${user}`, rate: limits.known }];
    const own = { key: `address ${network}`, rate: limits.address };
    // Local clients are limited separately, so that no remote one can block them; all loopback addresses count as one.
    if (isLoopback(address)) return [own, { key: 'loopback', rate: limits.overall }];
    return [own, { key: `account ${user}`, rate: limits.account }, { key: 'overall', rate: limits.overall }];
  }

  #refuseTooManyWaiting(network: string): void {
    const { maxWaiting, maxWaitingPerAddress, address } = this.#limits;
    if (this.#allWaiting < maxWaiting && (this.#waiting.get(network) ?? 0) < maxWaitingPerAddress) return;
    throw errors.tooManyAttempts(address.everyMs / 1000);
  }

  /** False when the client has disconnected. */
  async #wait(network: string, ms: number, gone: AbortSignal | undefined): Promise<boolean> {
    this.#allWaiting += 1;
    this.#waiting.set(network, (this.#waiting.get(network) ?? 0) + 1);
    try {
      return await new Promise<boolean>((resolve) => {
        const leave = () => {
          clearTimeout(timer);
          resolve(false);
        };
        const timer = setTimeout(() => {
          gone?.removeEventListener('abort', leave);
          resolve(true);
        }, ms);
        if (gone?.aborted) leave();
        else gone?.addEventListener('abort', leave, { once: true });
      });
    } finally {
      this.#allWaiting -= 1;
      const rest = (this.#waiting.get(network) ?? 1) - 1;
      if (rest > 0) this.#waiting.set(network, rest);
      else this.#waiting.delete(network);
    }
  }

  // For each bucket the time is stored at which it is full again (generic cell rate algorithm, ITU-T I.371).

  #waitFor(key: string, { burst, everyMs }: Rate): number {
    return (this.#buckets.get(key) ?? 0) - performance.now() - (burst - 1) * everyMs;
  }

  #take(key: string, { everyMs }: Rate): void {
    const full = Math.max(this.#buckets.get(key) ?? 0, performance.now()) + everyMs;
    this.#buckets.delete(key);
    this.#buckets.set(key, full);
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= MAX_KEYS) break;
      this.#buckets.delete(oldest);
    }
  }

  #refund(key: string, { everyMs }: Rate): void {
    const full = this.#buckets.get(key);
    if (full !== undefined) this.#buckets.set(key, full - everyMs);
  }
}
