import { setTimeout as sleep } from 'node:timers/promises';
import type { SlowStats, Stats } from '../../../agent/messages.js';
import { rowIdText } from '../../../snapshot/snapshot.js';
import type { LiveState } from '../../../state/live-state.js';
import { ArrayRows, type RestRow, UNAVAILABLE_ROWS, type View } from '../../../view/rows.js';
import type { MenuModule } from '../../module.js';

/** Minimum and maximum time between the two readings of a rate, ms: a longer time says nothing about the present. */
const RATE_MS = { min: 700, max: 5_000 };
/** Delay of another reading, ms, if a reading came a little too early for a rate. */
const RETRY_MS = 50;

/** `/ip/settings/slow-path`: reasons why packets took the slow path. */
function slowPathView(live: LiveState): View {
  let rates = new SlowPathRates();
  live.agent.onDown(() => {
    rates = new SlowPathRates();
  });
  return async (maxAgeMs, isRequested) => {
    let stats = await live.stats(maxAgeMs);
    if (stats !== undefined) rates.take(stats);
    for (let wait = RATE_MS.min; stats && isRequested?.('packets-per-second') && !rates.known; wait = RETRY_MS) {
      await sleep(wait);
      stats = await live.stats();
      if (stats !== undefined) rates.take(stats);
    }
    if (stats === undefined) return UNAVAILABLE_ROWS;
    return new ArrayRows(
      stats.slow.map(
        ({ reason, text, packets }, index): RestRow => ({
          '.id': rowIdText(index + 1),
          reason,
          description: text,
          packets: String(packets),
          'packets-per-second': String(rates.of(index)),
        }),
      ),
    );
  };
}

/** Packets per second of each slow path reason, between two readings at a suitable interval. */
class SlowPathRates {
  #base: { readonly nowNs: number; readonly slow: readonly SlowStats[] } | undefined;
  #rates: readonly number[] | undefined;

  /** Whether there are two readings to compute rates from. */
  get known(): boolean {
    return this.#rates !== undefined;
  }

  take({ 'now-ns': nowNs, slow }: Stats): void {
    const base = this.#base;
    const passedMs = base === undefined ? Number.POSITIVE_INFINITY : (nowNs - base.nowNs) / 1e6;
    if (passedMs < RATE_MS.min) return;
    this.#base = { nowNs, slow };
    this.#rates = undefined;
    if (base === undefined || passedMs > RATE_MS.max) return;
    this.#rates = slow.map(({ packets }, index) => {
      const before = base.slow[index]?.packets ?? packets;
      return Math.max(0, Math.round(((packets - before) * 1000) / passedMs));
    });
  }

  /** Packets per second of the reason with this index; 0 before there are two readings. */
  of(index: number): number {
    return this.#rates?.[index] ?? 0;
  }
}

export const ipSlowPath: MenuModule = {
  path: '/ip/settings/slow-path',
  view: (_, { live }) => slowPathView(live),
};
