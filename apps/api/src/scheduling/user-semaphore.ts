import { Cancelled } from './time-slicer.js';

/** A weighted semaphore with a limit for all requests, and one for the requests of each user. Further requests wait. */
export class UserSemaphore {
  readonly #most: number;
  readonly #mostOfUser: number;
  #all = 0;
  readonly #byUser = new Map<number, number>();
  /** Waiting requests, in the order of arrival. */
  readonly #line = new Set<{ readonly user: number; readonly amount: number; readonly enter: () => void }>();

  constructor(most: number, mostOfUser: number) {
    this.#most = most;
    this.#mostOfUser = mostOfUser;
  }

  /**
   * Waits until an amount is available and takes it.
   * @param amount at most the limit of one user
   * @param gone aborted when the amount is returned, or no longer waited for.
   * @throws Cancelled when it is no longer waited for.
   */
  acquire(user: number, amount: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = {
        user,
        amount,
        enter: () => {
          this.#add(user, amount);
          gone.removeEventListener('abort', forget);
          gone.addEventListener('abort', () => {
            this.#add(user, -amount);
            this.#advance();
          });
          resolve();
        },
      };
      const forget = () => {
        this.#line.delete(waiting);
        this.#advance();
        reject(new Cancelled());
      };
      if (gone.aborted) return forget();
      gone.addEventListener('abort', forget);
      this.#line.add(waiting);
      this.#advance();
    });
  }

  /** Whether an amount is available now. */
  fits(user: number, amount: number): boolean {
    return this.#all + amount <= this.#most && (this.#byUser.get(user) ?? 0) + amount <= this.#mostOfUser;
  }

  /**
   * Lets waiting requests continue. A request waits for earlier ones of the same user, and for other users only at the
   * total limit.
   */
  #advance(): void {
    for (const waiting of this.#line) {
      const { user, amount, enter } = waiting;
      if ((this.#byUser.get(user) ?? 0) + amount > this.#mostOfUser) continue;
      if (this.#all + amount > this.#most) return;
      this.#line.delete(waiting);
      enter();
    }
  }

  #add(user: number, amount: number): void {
    this.#all += amount;
    const sum = (this.#byUser.get(user) ?? 0) + amount;
    if (sum === 0) this.#byUser.delete(user);
    else this.#byUser.set(user, sum);
  }
}
