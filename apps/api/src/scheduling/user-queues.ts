/** Queues of work, one for each user: one piece of work of each user runs at a time. */
export class UserQueues {
  /** Promise of the last piece of work of each user with pending work. */
  readonly #last = new Map<number, Promise<void>>();

  /** Runs a piece of work after the earlier ones of the same user. */
  run<T>(user: number, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(user) ?? Promise.resolve()).then(work);
    const end = turn
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        if (this.#last.get(user) === end) this.#last.delete(user);
      });
    this.#last.set(user, end);
    return turn;
  }
}
