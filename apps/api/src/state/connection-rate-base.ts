/**
 * Age of the reading with which rates of connections are computed, ms: long enough to limit noise, short enough to be
 * current.
 */
export const BASE_AGE_MS = { min: 700, max: 10_000 };

interface Taken<T> {
  readonly reading: T;
  /** Time by `performance.now()`, ms. */
  readonly at: number;
}

/** Selects the reading with which rates of connections are computed, however often connections are read. */
export class ConnectionRateBase<T> {
  #base: Taken<T> | undefined;
  /** The next base; used once it is old enough. */
  #next: Taken<T> | undefined;

  /**
   * The reading to compare with at `now`; `undefined` while there is none of the right age.
   * @param last the last reading before
   */
  choose(last: Taken<T> | undefined, now: number): T | undefined {
    const isOld = ({ at }: Taken<T>) => now - at >= BASE_AGE_MS.min;
    if (last !== undefined && isOld(last)) {
      this.#base = last;
      this.#next = undefined;
    } else if (this.#next !== undefined && isOld(this.#next)) {
      this.#base = this.#next;
      this.#next = last;
    } else this.#next ??= last;
    if (this.#base !== undefined && now - this.#base.at > BASE_AGE_MS.max) this.#base = undefined;
    return this.#base?.reading;
  }

  forget(): void {
    this.#base = undefined;
    this.#next = undefined;
  }
}
