import { TimeSlicer } from '../scheduling/time-slicer.js';

/**
 * Samples a value once a second while there are listeners, and passes it to all of them. With very many listeners this
 * takes several turns of the event loop.
 */
export class Sampler<T> {
  readonly #take: () => Promise<T | undefined>;
  readonly #listeners = new Set<(value: T) => void>();
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #busy = false;
  #last: T | undefined;

  constructor(take: () => Promise<T | undefined>, onError: (error: unknown) => void) {
    this.#take = take;
    this.#onError = onError;
  }

  /**
   * Adds a listener. Returns a function that removes it. `replay`: passes the latest value at once, if there are other
   * listeners.
   */
  listen(listener: (value: T) => void, replay = false): () => void {
    this.#listeners.add(listener);
    if (this.#timer !== undefined) {
      if (replay && this.#last !== undefined) listener(this.#last);
    } else {
      this.#timer = setInterval(() => this.#tick(), 1000);
      this.#tick();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#last = undefined;
    };
  }

  /** Samples a value and passes it to the listeners. */
  sampleNow(): void {
    if (this.#listeners.size > 0) this.#tick();
  }

  #tick(): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#round()
      .catch(this.#onError)
      .finally(() => {
        this.#busy = false;
      });
  }

  async #round(): Promise<void> {
    const value = await this.#take();
    this.#last = value;
    if (value === undefined) return;
    const slicer = new TimeSlicer();
    for (const listener of [...this.#listeners]) {
      if (slicer.over) await slicer.pause();
      if (this.#listeners.has(listener)) listener(value);
    }
  }
}
