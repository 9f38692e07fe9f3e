/** Time that a section may wait for its turn, ms, and its error then: it is not run any more. */
interface WaitLimit {
  readonly ms: number;
  readonly error: () => Error;
}

interface WaitingSection {
  givenUp: boolean;
  /** Runs the section; never fails. */
  readonly begin: () => Promise<void>;
}

/**
 * Runs asynchronous sections one after the other. Those of one owner run in the order in which they were asked for,
 * owners by turns: whoever asks for very many keeps none but himself waiting.
 */
export class Mutex {
  /** Sections that wait, by owner; owners in the order in which they are next. */
  readonly #waiting = new Map<string | undefined, WaitingSection[]>();
  #running = false;

  /** @param owner for whom it runs; absent for the product itself. */
  run<T>(section: () => Promise<T>, waitLimit?: WaitLimit, owner?: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const giveUp = ({ error }: WaitLimit) => {
        waiting.givenUp = true;
        reject(error());
      };
      const timer = waitLimit && setTimeout(giveUp, waitLimit.ms, waitLimit);
      const waiting: WaitingSection = {
        givenUp: false,
        begin: async () => {
          clearTimeout(timer);
          try {
            resolve(await section());
          } catch (error) {
            reject(error);
          }
        },
      };
      const queue = this.#waiting.get(owner);
      if (queue === undefined) this.#waiting.set(owner, [waiting]);
      else queue.push(waiting);
      if (!this.#running) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#running = true;
    // The caller continues before its section begins.
    await Promise.resolve();
    for (let next = this.#next(); next !== undefined; next = this.#next()) await next.begin();
    this.#running = false;
  }

  /** Takes the next one out of the queue of the owner whose turn it is. */
  #next(): WaitingSection | undefined {
    for (const [owner, queue] of this.#waiting) {
      this.#waiting.delete(owner);
      const at = queue.findIndex(({ givenUp }) => !givenUp);
      if (at < 0) continue;
      const rest = queue.slice(at + 1);
      if (rest.length > 0) this.#waiting.set(owner, rest);
      return queue[at];
    }
    return undefined;
  }
}
