import { setTimeout as sleep } from 'node:timers/promises';
import { AgentGone, AgentRefusal } from '../agent/messages.js';
import { type ScopePart, scopeSlots } from '../agent/queue-scope.js';
import { parseRowId } from '../config/snapshot.js';
import type { Services } from '../rest/services.js';
import type { Outlet } from './menu-feed.js';

/** How often the data plane is asked, ms. */
const POLL_MS = 100;
/** Milliseconds that workers may still be writing: they are asked for again, and told when they are whole. */
const SETTLE_MS = 20;
/** How long a data plane that does not answer is left alone, ms. */
const RETRY_MS = 1_000;

/** Menus whose queues can be watched. */
export type ScopeMenu = '/queue/simple' | '/queue/tree';

/**
 * What one queue does in each millisecond, as `scope` messages: `nowMs`, up to which all is told, and `slots` with
 * `ms`, `upload` and `download`; a queue of a tree has `upload` only, which is all of it. Milliseconds in
 * which nothing passed, came or waited are left out.
 */
export class ScopeFeed {
  readonly #end = new AbortController();
  readonly #services: Pick<Services, 'store' | 'live'>;
  readonly #outlet: Outlet;
  readonly #id: number;
  readonly #menu: ScopeMenu;
  readonly #queue: string;
  /** Milliseconds up to this one were told. */
  #told = 0;

  /** @param queue `.id` or name. */
  constructor(
    services: Pick<Services, 'store' | 'live'>,
    outlet: Outlet,
    { id, menu, queue }: { readonly id: number; readonly menu: ScopeMenu; readonly queue: string },
  ) {
    this.#services = services;
    this.#outlet = outlet;
    this.#id = id;
    this.#menu = menu;
    this.#queue = queue;
    void this.#follow();
  }

  close(): void {
    this.#end.abort();
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
        const detail = explained(error);
        if (detail !== complaint && !signal.aborted) this.#send({ op: 'error', detail });
        complaint = detail;
      }
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }

  async #ask(): Promise<void> {
    const { store, live } = this.#services;
    const wanted = parseRowId(this.#queue);
    const row = store.snapshot
      .get(this.#menu)
      ?.find(({ id, values }) => (wanted === undefined ? values.name === this.#queue : id === wanted));
    if (row === undefined) throw new Error(`there is no queue ${this.#queue} in ${this.#menu}`);
    const reply = await live.agent.request({ op: 'queue-scope', row: row.id, after: this.#told });
    const until = Math.floor(Number(reply['now-ns']) / 1e6) - SETTLE_MS;
    const slots = scopeSlots(reply, this.#told, until);
    if (this.#end.signal.aborted || !this.#outlet.ready) return;
    this.#told = until;
    this.#send({
      op: 'scope',
      nowMs: until,
      slots: slots.map(({ ms, parts: [upload, download] }) => this.#slot(ms, upload, download)),
    });
  }

  #slot(ms: number, upload: ScopePart, download: ScopePart): object {
    return this.#menu === '/queue/simple' ? { ms, upload, download } : { ms, upload };
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
