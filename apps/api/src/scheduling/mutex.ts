/** Maximum time that a section waits, ms, and the error when it is exceeded: the section is then not run. */
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
 * Runs asynchronous sections one after the other. Sections of one owner run in the order in which they were requested;
 * owners are served round-robin, so that an owner with very many sections delays no other owner.
 */
export class Mutex {
  /** Waiting sections by owner; owners in round-robin order. */
  readonly #waiting = new Map<string | undefined, WaitingSection[]>();
  #running = false;

  /** @param owner the owner of the section; absent for the product itself. */
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
    // Lets the caller of `run` continue before its section begins.
    await Promise.resolve();
    for (let next = this.#next(); next !== undefined; next = this.#next()) await next.begin();
    this.#running = false;
  }

  /** Removes the next section from the queue of the owner whose turn it is. */
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
