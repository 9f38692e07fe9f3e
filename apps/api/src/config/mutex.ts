/** How long a section may wait for its turn, ms, and what it fails with then: it is not run any more. */
export interface Patience {
  readonly ms: number;
  readonly error: () => Error;
}

/** Runs asynchronous sections one after the other, in the order they were asked for. */
export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(section: () => Promise<T>, patience?: Patience): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let givenUp = false;
      const giveUp = ({ error }: Patience) => {
        givenUp = true;
        reject(error());
      };
      const timer = patience && setTimeout(giveUp, patience.ms, patience);
      this.#tail = this.#tail.then(async () => {
        clearTimeout(timer);
        if (!givenUp) await section().then(resolve, reject);
      });
    });
  }
}
