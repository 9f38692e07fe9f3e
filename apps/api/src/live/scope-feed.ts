import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure, Unnumbered } from '@tollway/protocol/live/answers';
import type { ScopeMessage, ScopeSlot } from '@tollway/protocol/live/queue-scope';
import { AgentGone, AgentRefusal } from '../agent/messages.js';
import type { ScopePart } from '../agent/queue-scope.js';
import { turnOf } from '../scheduling/time-slicer.js';
import type { Services } from '../services.js';
import type { MessageSink } from './menu-feed.js';
import { type Watch, type Watched, watchedRow } from './watched-queue.js';

/** How often the data plane is asked, ms. */
const POLL_MS = 100;
/** Milliseconds that the data plane surely remembers: of a longer time it may tell a part only, or nothing. */
const REMEMBERED_MS = 4_000;
/** How long a data plane that does not answer is left alone, ms. */
const RETRY_MS = 1_000;

/** The rows that are watched, as their viewer sees them. @see WatchedRows */
interface Rows {
  /** Number of whose viewer it is. */
  readonly user: number;
  readonly take: (row: number) => Promise<Watch>;
}

/** What one queue does in each millisecond, as `scope` messages; a queue of a tree has `upload` only. */
export class ScopeFeed {
  readonly #end = new AbortController();
  readonly #store: Services['store'];
  readonly #sink: MessageSink;
  readonly #id: number;
  readonly #watched: Watched;
  readonly #rows: Rows;
  /** The row in a configuration, which need not be looked for until that is another one. */
  #found: { readonly in: object; readonly row: number } | undefined;
  /** The row that it has a place for among those that are watched. */
  #taken: { readonly row: number; readonly watch: Watch } | undefined;
  /** Milliseconds up to this one were sent; 0 while nothing is known of what was before. */
  #sentUntil = 0;

  /** @param id of the subscription. */
  constructor(store: Services['store'], sink: MessageSink, id: number, watched: Watched, rows: Rows) {
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
    // A browser that has left again meanwhile, as its next message says, is not asked for.
    await turnOf(signal, this.#rows.user).catch(() => undefined);
    while (!signal.aborted) {
      let wait = POLL_MS;
      try {
        await this.#ask();
        complaint = '';
      } catch (error) {
        wait = RETRY_MS;
        this.#sentUntil = 0;
        this.#leave();
        const detail = explained(error);
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
    await turnOf(this.#end.signal, this.#rows.user);
    if (!this.#sink.ready) return;
    const slots = known.filter(({ ms }) => ms > this.#sentUntil);
    const follows = this.#sentUntil > 0 && until - this.#sentUntil <= REMEMBERED_MS;
    const from = follows ? this.#sentUntil + 1 : (slots[0]?.ms ?? until);
    this.#sentUntil = until;
    this.#send({
      op: 'scope',
      fromMs: from,
      nowMs: until,
      slots: slots.map(({ ms, parts: [upload, download] }) => this.#slot(ms, upload, download)),
    });
  }

  async #watch(): Promise<Watch> {
    const { compiled } = this.#store;
    if (this.#found?.in !== compiled) {
      this.#found = { in: compiled, row: watchedRow(this.#store, this.#watched) };
    }
    const { row } = this.#found;
    if (this.#taken?.row !== row || this.#taken.watch.over()) {
      this.#leave();
      this.#taken = { row, watch: await this.#rows.take(row) };
    }
    return this.#taken.watch;
  }

  #leave(): void {
    this.#taken?.watch.leave();
    this.#taken = undefined;
  }

  #slot(ms: number, upload: ScopePart, download: ScopePart): ScopeSlot {
    return this.#watched.menu === '/queue/simple' ? { ms, upload, download } : { ms, upload };
  }

  #send(message: Unnumbered<ScopeMessage | Failure>): void {
    this.#sink.send({ id: this.#id, ...message });
  }
}

function explained(error: unknown): string {
  if (error instanceof AgentRefusal) return error.message;
  if (error instanceof AgentGone) return 'the data plane agent is not connected';
  return error instanceof Error ? error.message : String(error);
}
