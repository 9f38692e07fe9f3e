import type { AgentPort } from '../agent/port.js';
import { type QueueSample, tokenBucketSamples } from '../agent/token-bucket.js';

/** Samples younger than this may still change, ms: they are returned by a later reading. */
const SETTLE_MS = 20;
/** Time for which a reading is shared by all feeds, ms: half of their polling interval. */
const SHARED_MS = 50;

/** Samples up to and including the millisecond `until`. */
export interface TokenBucketReading {
  readonly until: number;
  readonly slots: readonly QueueSample[];
}

/** Reads the samples of one queue; the readings are shared by all its viewers. */
export class TokenBucketReadings {
  readonly #agent: Pick<AgentPort, 'request'>;
  readonly #row: number;
  #last:
    | { readonly after: number; readonly askedAt: number; readonly reading: Promise<TokenBucketReading> }
    | undefined;

  /** @param row id of the queue's row. */
  constructor(agent: Pick<AgentPort, 'request'>, row: number) {
    this.#agent = agent;
    this.#row = row;
  }

  /**
   * Samples after the millisecond `after`, and possibly earlier ones; 0 for all that the data plane holds.
   * @throws AgentRefusal, AgentGone
   */
  read(after: number): Promise<TokenBucketReading> {
    const last = this.#last;
    const askedAt = performance.now();
    if (last !== undefined && last.after <= after && askedAt - last.askedAt < SHARED_MS) return last.reading;
    const reading = this.#ask(after);
    this.#last = { after, askedAt, reading };
    return reading;
  }

  async #ask(after: number): Promise<TokenBucketReading> {
    const reply = await this.#agent.request({ op: 'token-bucket', row: this.#row, after });
    const until = Math.floor(Number(reply['now-ns']) / 1e6) - SETTLE_MS;
    return { until, slots: tokenBucketSamples(reply, after, until) };
  }
}
