/** The last minutes of one queue, recorded while its dialog is open. The router keeps no history of queues. */
import type { Row } from '../../api/row.ts';
import { SPAN_MS } from '../../api/traffic.ts';
import type { Points } from '../../ui/sliding-window.ts';
import { halves } from './pair.ts';

type Pair = readonly [number, number];

interface Reading {
  readonly t: number;
  readonly rate: Pair;
  readonly limit: Pair;
  readonly queued: Pair;
  /** Packets dropped since the start of the router. */
  readonly dropped: Pair;
  /** Longest wait of a packet in the last second, s. */
  readonly wait: Pair;
}

const EVERY_MS = 1_000;
/** Time between two readings above which there is a gap and no rate is computed, ms. */
const GAP_MS = 3_000;

export class QueueRecorder {
  /** The newest state of the queue. It is read once a second, as an unchanged queue sends no updates. */
  row: Row = {};
  readonly #fresh: () => boolean;
  readonly #listeners = new Set<() => void>();
  readonly #readings: Reading[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param fresh returns whether {@link row} is up to date: false makes a gap, as does a row without counters */
  constructor(fresh: () => boolean) {
    this.#fresh = fresh;
  }

  /** Adds a callback that is called once a second; samples are recorded while there are callbacks. */
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

  /** Rates of all directions, bit/s, followed by the limits that are set. */
  rates(afterMs: number, directions = 2): Points {
    return this.#points(afterMs, ({ rate, limit }) => [
      ...rate.slice(0, directions),
      ...limit.slice(0, directions).map((each) => each || null),
    ]);
  }

  /** Queued bytes. */
  queued(afterMs: number, directions = 2): Points {
    return this.#points(afterMs, ({ queued }) => queued.slice(0, directions));
  }

  /** Packets dropped per second. */
  drops(afterMs: number, directions = 2): Points {
    return this.#points(afterMs, ({ t, dropped }, before) =>
      dropped.slice(0, directions).map((now, which) => {
        const counted = before?.dropped[which] ?? 0;
        // A smaller value means that the counters were reset: the number of drops until then is unknown.
        if (before === undefined || t - before.t > GAP_MS || now < counted) return null;
        return ((now - counted) * 1000) / (t - before.t);
      }),
    );
  }

  /** Longest wait of a packet in the last second, s. */
  waits(afterMs: number, directions = 2): Points {
    return this.#points(afterMs, ({ wait }) => wait.slice(0, directions));
  }

  #points(
    afterMs: number,
    pick: (reading: Reading, before: Reading | undefined) => readonly (number | null)[],
  ): Points {
    const first = this.#readings.findLastIndex(({ t }) => t <= afterMs) + 1;
    const readings = this.#readings.slice(first);
    const picked = readings.map((reading, at) => pick(reading, this.#readings[first + at - 1]));
    const lines = picked[0]?.length ?? 0;
    return {
      times: readings.map(({ t }) => t),
      values: Array.from({ length: lines }, (_, which) => picked.map((values) => values[which] ?? null)),
    };
  }

  #record(): void {
    const { row } = this;
    // While the packet engine does not answer, a queue has no counters, which must not count as 0.
    if (this.#fresh() && row.rate !== undefined) {
      // The monotonic time, as the clock may be set back.
      const t = performance.timeOrigin + performance.now();
      const [up, down] = halves(row['max-wait']);
      this.#readings.push({
        t,
        rate: halves(row.rate),
        limit: halves(row['max-limit']),
        queued: halves(row['queued-bytes']),
        dropped: halves(row.dropped),
        wait: [up / 1e6, down / 1e6],
      });
      const keep = this.#readings.findIndex((reading) => reading.t >= t - SPAN_MS);
      if (keep > 0) this.#readings.splice(0, keep);
    }
    for (const each of this.#listeners) each();
  }
}
