import { setTimeout as sleep } from 'node:timers/promises';
import { AgentGone, AgentRefusal } from '../agent/messages.js';
import { type ScopePart, scopeSlots } from '../agent/queue-scope.js';
import type { Services } from '../rest/services.js';
import type { Outlet } from './menu-feed.js';
import { type Watch, type Watched, watchedRow } from './watched-queue.js';

/** How often the data plane is asked, ms. */
const POLL_MS = 100;
/** Milliseconds that workers may still be writing: they are asked for again, and told when they are whole. */
const SETTLE_MS = 20;
/** Milliseconds that the data plane surely remembers: of a longer time it may tell a part only, or nothing. */
const REMEMBERED_MS = 4_000;
/** How long a data plane that does not answer is left alone, ms. */
const RETRY_MS = 1_000;

/** The rows that are watched. @see WatchedRows */
interface Rows {
  readonly take: (row: number) => Promise<Watch>;
}

/**
 * What one queue does in each millisecond, as `scope` messages: `fromMs` and `nowMs`, between which all is told, both
 * included, and `slots` with `ms`, `upload` and `download`; a queue of a tree has `upload` only, which is all of it.
 * Milliseconds in which nothing passed, came or waited are left out.
 */
export class ScopeFeed {
  readonly #end = new AbortController();
  readonly #services: Pick<Services, 'store' | 'live'>;
  readonly #outlet: Outlet;
  readonly #id: number;
  readonly #watched: Watched;
  readonly #rows: Rows;
  /** The row in a configuration, which need not be looked for until that is another one. */
  #found: { readonly in: object; readonly row: number } | undefined;
  /** The row that it has a place for among those that are watched. */
  #taken: { readonly row: number; readonly watch: Watch } | undefined;
  /** Milliseconds up to this one were told; 0 while nothing is known of what was before. */
  #told = 0;

  /** @param id of the subscription. */
  constructor(services: Pick<Services, 'store' | 'live'>, outlet: Outlet, id: number, watched: Watched, rows: Rows) {
    this.#services = services;
    this.#outlet = outlet;
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
    while (!signal.aborted) {
      let wait = POLL_MS;
      try {
        await this.#ask();
        complaint = '';
      } catch (error) {
        wait = RETRY_MS;
        this.#told = 0;
        this.#leave();
        const detail = explained(error);
        if (detail !== complaint && !signal.aborted) this.#send({ op: 'error', detail });
        complaint = detail;
      }
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }

  async #ask(): Promise<void> {
    const row = await this.#row();
    if (this.#end.signal.aborted) return this.#leave();
    const reply = await this.#services.live.agent.request({ op: 'queue-scope', row, after: this.#told });
    const until = Math.floor(Number(reply['now-ns']) / 1e6) - SETTLE_MS;
    const slots = scopeSlots(reply, this.#told, until);
    if (this.#end.signal.aborted || !this.#outlet.ready) return;
    const follows = this.#told > 0 && until - this.#told <= REMEMBERED_MS;
    const from = follows ? this.#told + 1 : (slots[0]?.ms ?? until);
    this.#told = until;
    this.#send({
      op: 'scope',
      fromMs: from,
      nowMs: until,
      slots: slots.map(({ ms, parts: [upload, download] }) => this.#slot(ms, upload, download)),
    });
  }

  async #row(): Promise<number> {
    const { store } = this.#services;
    const { compiled } = store;
    if (this.#found?.in !== compiled) {
      this.#found = { in: compiled, row: watchedRow(store, this.#watched) };
    }
    const { row } = this.#found;
    if (this.#taken?.row !== row || this.#taken.watch.over()) {
      this.#leave();
      this.#taken = { row, watch: await this.#rows.take(row) };
    }
    return row;
  }

  #leave(): void {
    this.#taken?.watch.leave();
    this.#taken = undefined;
  }

  #slot(ms: number, upload: ScopePart, download: ScopePart): object {
    return this.#watched.menu === '/queue/simple' ? { ms, upload, download } : { ms, upload };
  }

  #send(message: object): void {
    this.#outlet.send({ id: this.#id, ...message });
  }
}

function explained(error: unknown): string {
  if (error instanceof AgentRefusal) return error.message;
  if (error instanceof AgentGone) return 'the data plane agent is not connected';
  return error instanceof Error ? error.message : String(error);
}
