/** Time for which requests are started in one turn of the event loop, ms. */
const TURN_MS = 8;

/**
 * Starts requests in turns of the event loop. A request that arrives while the turn has time left starts at once;
 * others wait. Connections are served round-robin, one request at a time, so that one with many requests does not delay
 * the rest.
 */
export class RequestScheduler<C> {
  readonly #now: () => number;
  readonly #soon: (work: () => void) => void;
  /** Waiting requests by connection, in round-robin order. */
  readonly #waiting = new Map<C, (() => void)[]>();
  /** Time until which requests are started in this turn; undefined before the first one. */
  #until: number | undefined;

  /**
   * @param now clock, ms
   * @param soon schedules a function for the next turn
   */
  constructor(now: () => number = () => performance.now(), soon: (work: () => void) => void = setImmediate) {
    this.#now = now;
    this.#soon = soon;
  }

  /** Starts a request of a connection, now or in one of the next turns, after earlier requests of that connection. */
  begin(connection: C, request: () => void): void {
    if (this.#until === undefined) this.#open();
    const others = this.#waiting.get(connection);
    if (others !== undefined) others.push(request);
    else if (this.#now() < (this.#until ?? 0)) request();
    else this.#waiting.set(connection, [request]);
  }

  /** Drops the waiting requests of a closed connection. */
  forget(connection: C): void {
    this.#waiting.delete(connection);
  }

  #open(): void {
    this.#until = this.#now() + TURN_MS;
    this.#soon(() => this.#close());
  }

  /**
   * Ends the turn and starts one request. Its microtasks run before the next request is started and before other events
   * are handled.
   */
  #close(): void {
    this.#until = undefined;
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [connection, requests] = next;
    const request = requests.shift();
    this.#waiting.delete(connection);
    if (requests.length > 0) this.#waiting.set(connection, requests);
    this.#open();
    request?.();
  }
}
