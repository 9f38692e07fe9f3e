import { setTimeout as sleep } from 'node:timers/promises';
import type { SlowStats, Stats } from '../../../agent/messages.js';
import { rowIdText } from '../../../snapshot/snapshot.js';
import type { LiveState } from '../../../state/live-state.js';
import { ArrayRows, type RestRow, UNAVAILABLE_ROWS, type View } from '../../../view/rows.js';
import type { MenuModule } from '../../module.js';

/** Shortest and longest time between the two readings of a rate, ms: over a longer one it says nothing about now. */
const RATE_MS = { min: 700, max: 5_000 };
/** Time until a second reading when one was a little too early for a rate, ms. */
const RETRY_MS = 50;

/** `/ip/settings/slow-path`: why packets went through every stage. */
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

/** Packets per second of each slow reason, between readings that are neither too close nor too far apart. */
class SlowPathRates {
  #base: { readonly nowNs: number; readonly slow: readonly SlowStats[] } | undefined;
  #rates: readonly number[] | undefined;

  /** Whether there were two readings to take them from. */
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

  /** Packets per second of the reason at this place; 0 before there are two readings. */
  of(index: number): number {
    return this.#rates?.[index] ?? 0;
  }
}

export const ipSlowPath: MenuModule = {
  path: '/ip/settings/slow-path',
  view: (_, { live }) => slowPathView(live),
};
