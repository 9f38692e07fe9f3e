/** Runs once a second while somebody listens, and hands all of them the same thing. */
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

  /** Returns how to stop listening. `replay` hands out the latest value at once, if others listen already. */
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

  /** Takes and hands out a value now. */
  poke(): void {
    if (this.#listeners.size > 0) this.#tick();
  }

  #tick(): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#take()
      .then((value) => {
        this.#last = value;
        if (value !== undefined) for (const listener of this.#listeners) listener(value);
      })
      .catch(this.#onError)
      .finally(() => {
        this.#busy = false;
      });
  }
}
