import type { SlowStats, Stats } from '../agent/messages.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, NOT_KNOWN, type RestRow, type View, yesNo } from './rows.js';

const id = (index: number): string => `*${(index + 1).toString(16).toUpperCase()}`;

/** `/ip/settings/fast-path`: the ways past the slow path. */
export function fastPathView(live: LiveState): View {
  return async (maxAgeMs) => {
    const stats = await live.stats(maxAgeMs);
    if (stats === undefined) return NOT_KNOWN;
    return new ArrayRows(
      stats['fast-path'].handlers.map(
        ({ name, active, 'blocked-by': blocked, packets, bytes }, index): RestRow => ({
          '.id': id(index),
          name,
          active: yesNo(active),
          ...(blocked && { 'blocked-by': blocked }),
          packets: String(packets),
          bytes: String(bytes),
        }),
      ),
    );
  };
}

/** Shortest time between the two readings of a rate, ns. */
const RATE_BASE_NS = 700e6;

/** `/ip/settings/slow-path`: why packets went through every stage. */
export function slowPathView(live: LiveState): View {
  let rates = new Rates();
  live.agent.onDown(() => {
    rates = new Rates();
  });
  return async (maxAgeMs) => {
    const stats = await live.stats(maxAgeMs);
    if (stats === undefined) return NOT_KNOWN;
    rates.take(stats);
    return new ArrayRows(
      stats.slow.map(
        ({ reason, text, packets }, index): RestRow => ({
          '.id': id(index),
          reason,
          description: text,
          packets: String(packets),
          'packets-per-second': String(rates.of(index)),
        }),
      ),
    );
  };
}

/** Rates between readings that lie long enough apart to say something. */
class Rates {
  #base: { readonly nowNs: number; readonly slow: readonly SlowStats[] } | undefined;
  #rates: readonly number[] = [];

  take({ 'now-ns': nowNs, slow }: Stats): void {
    const base = this.#base;
    if (base !== undefined && nowNs - base.nowNs < RATE_BASE_NS) return;
    this.#base = { nowNs, slow };
    if (base === undefined) return;
    const seconds = (nowNs - base.nowNs) / 1e9;
    this.#rates = slow.map(({ packets }, index) => {
      const before = base.slow[index]?.packets ?? packets;
      return Math.max(0, Math.round((packets - before) / seconds));
    });
  }

  /** Packets per second of the reason at this place; 0 before there are two readings. */
  of(index: number): number {
    return this.#rates[index] ?? 0;
  }
}
