/** Time for which requests are begun in one turn of the event loop, ms. */
const TURN_MS = 8;

/**
 * Starts requests in turns of the event loop. A request that arrives while the turn has time left starts at once; the others
 * wait, and connections take turns, one request each, so that one with many does not delay the rest.
 */
export class RequestScheduler<C> {
  readonly #now: () => number;
  readonly #soon: (work: () => void) => void;
  /** Requests that wait, by connection, in the order in which they are next. */
  readonly #waiting = new Map<C, (() => void)[]>();
  /** Time until which requests are begun in this turn; undefined before the first one. */
  #until: number | undefined;

  /**
   * @param now clock, ms
   * @param soon schedules a function for the next turn
   */
  constructor(now: () => number = () => performance.now(), soon: (work: () => void) => void = setImmediate) {
    this.#now = now;
    this.#soon = soon;
  }

  /** Begins a request of a connection, now or in one of the next turns, after those that came before on that connection. */
  begin(connection: C, request: () => void): void {
    if (this.#until === undefined) this.#open();
    const others = this.#waiting.get(connection);
    if (others !== undefined) others.push(request);
    else if (this.#now() < (this.#until ?? 0)) request();
    else this.#waiting.set(connection, [request]);
  }

  /** The connection is gone. */
  forget(connection: C): void {
    this.#waiting.delete(connection);
  }

  #open(): void {
    this.#until = this.#now() + TURN_MS;
    this.#soon(() => this.#close());
  }

  /** Ends the turn and begins one request: what it does in microtasks is done before the next one, and before others are heard. */
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
