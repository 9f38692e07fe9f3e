import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure, Unnumbered } from '@tollway/protocol/live/server-messages';
import type { TokenBucketMessage } from '@tollway/protocol/live/token-bucket';
import { hasOneDirection } from '@tollway/protocol/queue-menus';
import { startSlicer } from '../scheduling/time-slicer.js';
import type { Services } from '../services.js';
import { failureOf } from './failure.js';
import type { MessageSink } from './menu-feed.js';
import { type Watch, type WatchedQueue, watchedRow } from './watched-queue.js';

/** Polling interval, ms. */
const POLL_MS = 100;
/** Minimum length of the history that the data plane keeps, ms; it may return less than a longer requested time. */
const REMEMBERED_MS = 4_000;
/** Delay of a retry after an error, ms. */
const RETRY_MS = 1_000;

/** {@link WatchedRows} for one user. */
interface Rows {
  /** Id of the user. */
  readonly user: number;
  readonly watch: (row: number) => Promise<Watch>;
}

/**
 * Sends the samples of one queue, one for each millisecond, as messages `token-bucket`. A queue of a tree has `upload`
 * only.
 */
export class TokenBucketFeed {
  readonly #end = new AbortController();
  readonly #store: Services['store'];
  readonly #sink: MessageSink;
  readonly #id: number;
  readonly #watched: WatchedQueue;
  readonly #rows: Rows;
  /**
   * The row of the queue, and the configuration in which it was looked up; looked up again when the configuration
   * changes.
   */
  #found: { readonly in: object; readonly row: number } | undefined;
  /** The row that this feed watches. */
  #current: { readonly row: number; readonly watch: Watch } | undefined;
  /** The last millisecond that was sent; 0 before the first message and after an error. */
  #sentUntil = 0;

  /** @param id id of the subscription. */
  constructor(store: Services['store'], sink: MessageSink, id: number, watched: WatchedQueue, rows: Rows) {
    this.#store = store;
    this.#sink = sink;
    this.#id = id;
    this.#watched = watched;
    this.#rows = rows;
    void this.#follow();
  }

  close(): void {
    this.#end.abort();
    this.#leave();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#end;
    let complaint = '';
    // An `unsubscribe` that was sent directly after the subscription takes effect first.
    await startSlicer(signal, this.#rows.user).catch(() => undefined);
    while (!signal.aborted) {
      let wait = POLL_MS;
      try {
        await this.#ask();
        complaint = '';
      } catch (error) {
        wait = RETRY_MS;
        this.#sentUntil = 0;
        this.#leave();
        const { detail } = failureOf(error);
        if (detail !== complaint && !signal.aborted) this.#send({ op: 'error', detail });
        complaint = detail;
      }
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }

  async #ask(): Promise<void> {
    const watch = await this.#watch();
    if (this.#end.signal.aborted) return this.#leave();
    const { until, slots: known } = await watch.read(this.#sentUntil);
    await startSlicer(this.#end.signal, this.#rows.user);
    if (!this.#sink.ready) return;
    const slots = known.filter(({ ms }) => ms > this.#sentUntil);
    const follows = this.#sentUntil > 0 && until - this.#sentUntil <= REMEMBERED_MS;
    const from = follows ? this.#sentUntil + 1 : (slots[0]?.ms ?? until);
    this.#sentUntil = until;
    this.#send({
      op: 'token-bucket',
      fromMs: from,
      nowMs: until,
      slots: hasOneDirection(this.#watched.menu) ? slots.map(({ ms, upload }) => ({ ms, upload })) : slots,
    });
  }

  async #watch(): Promise<Watch> {
    const { compiled } = this.#store;
    if (this.#found?.in !== compiled) {
      this.#found = { in: compiled, row: watchedRow(this.#store, this.#watched) };
    }
    const { row } = this.#found;
    if (this.#current?.row !== row || this.#current.watch.isRevoked()) {
      this.#leave();
      this.#current = { row, watch: await this.#rows.watch(row) };
    }
    return this.#current.watch;
  }

  #leave(): void {
    this.#current?.watch.stop();
    this.#current = undefined;
  }

  #send(message: Unnumbered<TokenBucketMessage | Failure>): void {
    this.#sink.send({ id: this.#id, ...message });
  }
}
