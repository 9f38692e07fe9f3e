/** Queues of work, one for each user: of each one piece is under way at a time. */
export class UserQueues {
  /** The end of the last piece of a user who has any. */
  readonly #last = new Map<number, Promise<void>>();

  /** Runs a piece of work after those that the user has asked for before. */
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
