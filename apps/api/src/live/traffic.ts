import type { TrafficSample } from '@tollway/protocol/live/traffic';
import type { Stats } from '../agent/messages.js';
import { rowIdText } from '../snapshot/snapshot.js';
import type { CpuLoad } from '../state/cpu-load.js';
import type { LiveState } from '../state/live-state.js';

/** Number of samples that are kept, one a second, with or without viewers. */
const HISTORY = 300;

/** Source of the topic `traffic`: samples the values of the live graphs and keeps the last samples. */
export class Traffic {
  readonly #live: LiveState;
  readonly #cpuLoad: CpuLoad;
  readonly #history: TrafficSample[];
  #before: Stats | undefined;

  /** @param earlier samples of an earlier process, oldest first */
  constructor(live: LiveState, cpuLoad: CpuLoad, earlier: readonly TrafficSample[] = []) {
    this.#history = earlier.filter(({ t }) => t <= Date.now()).slice(-HISTORY);
    this.#live = live;
    this.#cpuLoad = cpuLoad;
  }

  /** Samples of the last 300 s, oldest first. */
  history(): readonly TrafficSample[] {
    const since = Date.now() - HISTORY * 1000;
    return this.#history.filter((sample) => sample.t >= since);
  }

  async take(): Promise<TrafficSample | undefined> {
    const [stats, cores] = await Promise.all([this.#live.stats(500), this.#cpuLoad.cores()]);
    if (stats === undefined) {
      this.#before = undefined;
      return undefined;
    }
    const before = this.#before;
    this.#before = stats;
    const sample: TrafficSample = {
      t: Date.now(),
      interfaces: this.#rates(stats),
      cpu: cores.map(({ cpu, load }) => ({ cpu, load: Math.round(load * 10) / 10 })),
      connections: stats.tracking['ip4-entries'] + stats.tracking['ip6-entries'],
      throughput: throughput(stats),
      queued: { bytes: stats.queues['queued-bytes'], packets: stats.queues['queued-packets'] },
      fasttrackShare: before === undefined ? 0 : fasttrackShare(before, stats),
      drops: before === undefined ? {} : drops(before, stats),
    };
    // The clock was set back: the samples after the new time are discarded, as the time of a graph must increase.
    const ahead = this.#history.findIndex(({ t }) => t >= sample.t);
    if (ahead >= 0) this.#history.splice(ahead);
    this.#history.push(sample);
    if (this.#history.length > HISTORY) this.#history.shift();
    return sample;
  }

  #rates(stats: Stats): TrafficSample['interfaces'] {
    return Object.fromEntries(
      stats.interfaces.map(({ row, rates }) => [
        rowIdText(row),
        {
          rx: rates['rx-bps'],
          tx: rates['tx-bps'],
          rxPps: rates['rx-pps'],
          txPps: rates['tx-pps'],
          fpRx: rates['fp-rx-bps'],
          fpTx: rates['fp-tx-bps'],
          fpRxPps: rates['fp-rx-pps'],
          fpTxPps: rates['fp-tx-pps'],
        },
      ]),
    );
  }
}

/** Throughput of forwarded traffic, without traffic of the router itself and its services. */
export function throughput({ interfaces }: Pick<Stats, 'interfaces'>): TrafficSample['throughput'] {
  const sum = (rate: 'bps' | 'pps') =>
    interfaces
      // What passes a VLAN passes its port, too.
      .filter(({ port }) => port !== '')
      .reduce((total, { rates }) => total + Math.max(0, rates[`tx-${rate}`] - rates[`own-tx-${rate}`]), 0);
  return { bps: sum('bps'), pps: sum('pps') };
}

const received = ({ interfaces }: Stats): number => interfaces.reduce((sum, entry) => sum + entry['rx-packets'], 0);

function fasttrackShare(before: Stats, after: Stats): number {
  const packets = received(after) - received(before);
  const fast = after['fast-path']['fasttrack-packets'] - before['fast-path']['fasttrack-packets'];
  return packets > 0 && fast > 0 ? Math.min(1, Math.round((fast / packets) * 1000) / 1000) : 0;
}

function drops(before: Stats, after: Stats): Record<string, number> {
  const seconds = (after['now-ns'] - before['now-ns']) / 1e9;
  const earlier = new Map(before.drops.map((drop) => [drop.reason, drop.packets]));
  const moved = after.drops.flatMap(({ reason, packets }) => {
    const count = packets - (earlier.get(reason) ?? 0);
    return count > 0 && seconds > 0 ? [[reason, Math.round(count / seconds)] as const] : [];
  });
  return Object.fromEntries(moved);
}
