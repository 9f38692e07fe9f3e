import type { ProfileRow } from '@tollway/protocol/live/profile';
import type { CoreStats, Stats } from '../agent/messages.js';
import { type CoreTimes, loads, readCoreTimes } from './cpu-load.js';
import type { LiveState } from './live-state.js';

/** Processor times of the agent and the kernel at a moment. */
export interface ProfileReading {
  readonly stats: Stats;
  readonly coreTimes: readonly CoreTimes[];
  /** Time of the reading, ms since an arbitrary point in time. */
  readonly at: number;
}

/** 100 percent, in tenths of a percent. */
const WHOLE = 1000;

/** Reads the times of the agent and of the kernel; undefined without an agent. */
export async function readProfile(live: LiveState): Promise<ProfileReading | undefined> {
  const [stats, coreTimes] = await Promise.all([live.stats(), readCoreTimes()]);
  return stats && { stats, coreTimes, at: performance.now() };
}

/** Total number of packets that workers have handed over to other workers. */
export const handedOver = ({ workers }: Stats): number =>
  workers.reduce((sum, worker) => sum + worker['handover-packets'], 0);

/** Total number of TCP segments that arrived out of order. */
export const outOfOrder = ({ workers }: Stats): number =>
  workers.reduce((sum, worker) => sum + worker['out-of-order-packets'], 0);

/** Increase of a count per second between two readings. */
export function ratePerSecond(count: (stats: Stats) => number, before: ProfileReading, after: ProfileReading): number {
  const seconds = (after.at - before.at) / 1000;
  return seconds > 0 ? Math.max(0, Math.round((count(after.stats) - count(before.stats)) / seconds)) : 0;
}

/**
 * Time of the cores between two readings: the time of the workers by class; further busy time that the kernel counts is
 * `other`, for processes and the kernel itself. The rows of one core (and of `total`) add up to 100.
 * @param cpu `total`, `all` or a core number as text.
 */
export function profileRows(before: ProfileReading, after: ProfileReading, cpu: string): ProfileRow[] {
  const kernel = loads(before.coreTimes, after.coreTimes);
  const cores = after.stats.cores.flatMap((core) => {
    const known = before.stats.cores.find((candidate) => candidate.cpu === core.cpu);
    const base = known ?? startOfUnusedCore(before.stats, core.cpu);
    const load = kernel.find((candidate) => candidate.cpu === core.cpu)?.load ?? 0;
    const ticks = base === undefined ? undefined : ticksByClass(base, core, load);
    return ticks === undefined ? [] : [{ cpu: String(core.cpu), ticks }];
  });
  if (cpu === 'total') return rows('total', average(cores.map((core) => core.ticks)));
  return cores.filter((core) => cpu === 'all' || core.cpu === cpu).flatMap((core) => rows(core.cpu, core.ticks));
}

/**
 * Start values of a core that no worker had used at the earlier reading: the cycle counter is the same on every core.
 */
function startOfUnusedCore({ cores: [core] }: Stats, cpu: number): CoreStats | undefined {
  return core && { cpu, cycles: core.cycles, 'idle-cycles': core.cycles, classes: [] };
}

/**
 * Ticks by class, including idle time and the unexplained rest; undefined when no time passed.
 * @param load load of the core by the kernel's count, percent.
 */
function ticksByClass(before: CoreStats, after: CoreStats, load: number): Map<string, number> | undefined {
  const total = after.cycles - before.cycles;
  if (total <= 0) return undefined;
  const ticks = new Map<string, number>();
  for (const { name, cycles } of after.classes) {
    const earlier = before.classes.find((candidate) => candidate.name === name)?.cycles ?? 0;
    ticks.set(name, Math.max(0, cycles - earlier));
  }
  // The rest of the core's time, which other processes may have used.
  const left = Math.min(total, Math.max(0, after['idle-cycles'] - before['idle-cycles']));
  const named = [...ticks].reduce((sum, [name, count]) => sum + (name === 'unclassified' ? 0 : count), 0);
  ticks.set('unclassified', Math.max(0, total - left - named));
  const other = Math.min(left, Math.max(0, (load / 100) * total - (total - left)));
  return ticks.set('other', other).set('idle', left - other);
}

function average(cores: readonly Map<string, number>[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const ticks of cores) {
    const total = [...ticks.values()].reduce((a, b) => a + b, 0);
    for (const [name, count] of ticks) sum.set(name, (sum.get(name) ?? 0) + count / total);
  }
  return sum;
}

/** Rounds to tenths so that the sum stays 100 (largest remainders), busiest class first. */
function rows(cpu: string, ticks: ReadonlyMap<string, number>): ProfileRow[] {
  const total = [...ticks.values()].reduce((a, b) => a + b, 0);
  if (total === 0) return [];
  const shares = [...ticks].map(([name, count]) => {
    const exact = (count / total) * WHOLE;
    return { name, tenths: Math.floor(exact), rest: exact - Math.floor(exact) };
  });
  let missing = WHOLE - shares.reduce((sum, share) => sum + share.tenths, 0);
  for (const share of [...shares].sort((a, b) => b.rest - a.rest)) {
    if (missing <= 0) break;
    share.tenths += 1;
    missing -= 1;
  }
  return shares
    .sort((a, b) => b.tenths - a.tenths || (a.name < b.name ? -1 : 1))
    .map(({ name, tenths }) => ({ name, cpu, usage: String(tenths / 10) }));
}
