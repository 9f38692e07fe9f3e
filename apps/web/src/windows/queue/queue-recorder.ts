/** The last minutes of one queue, recorded while somebody looks at it. The router keeps no history of queues. */
import type { Row } from '../../api/row.ts';
import { SPAN_MS } from '../../api/traffic.ts';
import type { Points } from '../../ui/sliding.ts';
import { halves } from './pair.ts';

interface Reading {
  readonly t: number;
  readonly rate: readonly [number, number];
  readonly limit: readonly [number, number];
  readonly queued: readonly [number, number];
}

const EVERY_MS = 1_000;

export class QueueRecorder {
  /** The newest state of the queue; a queue that stands still sends no news, so this is read once a second. */
  row: Row = {};
  readonly #fresh: () => boolean;
  readonly #listeners = new Set<() => void>();
  readonly #readings: Reading[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param fresh whether {@link row} is up to date: false leaves a gap */
  constructor(fresh: () => boolean) {
    this.#fresh = fresh;
  }

  /** Calls back once a second; records while somebody listens. */
  readonly listen = (changed: () => void): (() => void) => {
    const listener = () => changed();
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => this.#record(), EVERY_MS);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  };

  /** Upload and download rate in bit/s, and the limits that are set. */
  rates(afterMs: number): Points {
    return this.#points(afterMs, ({ rate, limit }) => [...rate, limit[0] || null, limit[1] || null]);
  }

  /** Bytes that wait, of upload and download. */
  queued(afterMs: number): Points {
    return this.#points(afterMs, ({ queued }) => queued);
  }

  #points(afterMs: number, pick: (reading: Reading) => readonly (number | null)[]): Points {
    const readings = this.#readings.slice(this.#readings.findLastIndex(({ t }) => t <= afterMs) + 1);
    const picked = readings.map(pick);
    const lines = picked[0]?.length ?? 0;
    return {
      times: readings.map(({ t }) => t),
      values: Array.from({ length: lines }, (_, which) => picked.map((values) => values[which] ?? null)),
    };
  }

  #record(): void {
    const { row } = this;
    if (this.#fresh()) {
      const t = Date.now();
      this.#readings.push({
        t,
        rate: halves(row.rate),
        limit: halves(row['max-limit']),
        queued: halves(row['queued-bytes']),
      });
      const keep = this.#readings.findIndex((reading) => reading.t >= t - SPAN_MS);
      if (keep > 0) this.#readings.splice(0, keep);
    }
    for (const each of this.#listeners) each();
  }
}
