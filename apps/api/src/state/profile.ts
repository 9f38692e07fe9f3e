import type { CoreStats, Stats } from '../agent/messages.js';

export interface ProfileRow {
  readonly name: string;
  /** Core number, or `total`. */
  readonly cpu: string;
  /** Percent with one decimal. */
  readonly usage: string;
}

/** Tenths of a percent in the whole. */
const WHOLE = 1000;

/**
 * Where the workers' time went between two readings. Rows of one core (and of `total`) add up to 100.
 * @param cpu `total`, `all` or a core number as text.
 */
export function profile(before: Stats, after: Stats, cpu: string): ProfileRow[] {
  const cores = after.cores.flatMap((core) => {
    const base = before.cores.find((candidate) => candidate.cpu === core.cpu) ?? untouched(before, core.cpu);
    const ticks = base === undefined ? undefined : ticksByClass(base, core);
    return ticks === undefined ? [] : [{ cpu: String(core.cpu), ticks }];
  });
  if (cpu === 'total') return rows('total', average(cores.map((core) => core.ticks)));
  return cores.filter((core) => cpu === 'all' || core.cpu === cpu).flatMap((core) => rows(core.cpu, core.ticks));
}

/** A core to which no worker had come by then. The cycles are those of every core. */
function untouched({ cores: [core] }: Stats, cpu: number): CoreStats | undefined {
  return core && { cpu, cycles: core.cycles, 'idle-cycles': core.cycles, classes: [] };
}

/** Classes with their ticks, idle and the unexplained rest included; undefined when no time passed. */
function ticksByClass(before: CoreStats, after: CoreStats): Map<string, number> | undefined {
  const total = after.cycles - before.cycles;
  if (total <= 0) return undefined;
  const ticks = new Map<string, number>();
  for (const { name, cycles } of after.classes) {
    const earlier = before.classes.find((candidate) => candidate.name === name)?.cycles ?? 0;
    ticks.set(name, Math.max(0, cycles - earlier));
  }
  const idle = Math.min(total, Math.max(0, after['idle-cycles'] - before['idle-cycles']));
  ticks.set('idle', idle);
  const explained = [...ticks].reduce((sum, [name, count]) => sum + (name === 'unclassified' ? 0 : count), 0);
  ticks.set('unclassified', Math.max(0, total - explained));
  return ticks;
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
