import type { AgentPort } from '../agent/port.js';
import { type ScopeSlot, scopeSlots } from '../agent/queue-scope.js';

/** Milliseconds that workers may still be writing: they are asked for again, and told when they are whole. */
const SETTLE_MS = 20;
/** How long a reading is that of all who ask, ms: half of the time after which each asks again. */
const SHARED_MS = 50;

/** What a queue did in each millisecond after one, up to and with another. */
export interface ScopeReading {
  readonly until: number;
  readonly slots: readonly ScopeSlot[];
}

/** Readings of what one queue does, shared by those who watch it. */
export class ScopeReadings {
  readonly #agent: Pick<AgentPort, 'request'>;
  readonly #row: number;
  #last: { readonly after: number; readonly askedAt: number; readonly reading: Promise<ScopeReading> } | undefined;

  /** @param row of the queue. */
  constructor(agent: Pick<AgentPort, 'request'>, row: number) {
    this.#agent = agent;
    this.#row = row;
  }

  /**
   * Milliseconds after this one, maybe some before as well; 0: all that the data plane remembers.
   * @throws as the data plane's answer does.
   */
  read(after: number): Promise<ScopeReading> {
    const last = this.#last;
    const askedAt = performance.now();
    if (last !== undefined && last.after <= after && askedAt - last.askedAt < SHARED_MS) return last.reading;
    const reading = this.#ask(after);
    this.#last = { after, askedAt, reading };
    return reading;
  }

  async #ask(after: number): Promise<ScopeReading> {
    const reply = await this.#agent.request({ op: 'queue-scope', row: this.#row, after });
    const until = Math.floor(Number(reply['now-ns']) / 1e6) - SETTLE_MS;
    return { until, slots: scopeSlots(reply, after, until) };
  }
}
