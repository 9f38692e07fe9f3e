import { readFile } from 'node:fs/promises';

/** Load of a core, percent. */
interface CoreLoad {
  /** Number of the core. Cores that are offline have no entry, so that numbers may be missing. */
  readonly cpu: number;
  readonly load: number;
  /** Interrupts and soft interrupts, part of the load. */
  readonly irq: number;
  /** I/O wait while the core was otherwise idle; not part of the load. */
  readonly disk: number;
}

/** Times of a core since the start of the machine, clock ticks. */
export interface CoreTimes {
  readonly cpu: number;
  readonly total: number;
  readonly idle: number;
  readonly irq: number;
  readonly disk: number;
}

interface Sample {
  readonly at: number;
  readonly cores: readonly CoreTimes[];
}

/** Time for which readers share a load, ms. */
const SHARED_MS = 900;
/** Interval between the two samples for the first load, ms. */
const FIRST_MS = 250;
/** Maximum age of the earlier sample of a load, ms. */
const MAX_SAMPLE_AGE_MS = 5_000;

/** Load of the CPU and of each core, from the times that the kernel counts. */
export class CpuLoad {
  #base: Sample | undefined;
  #cores: readonly CoreLoad[] = [];
  #pending: Promise<readonly CoreLoad[]> | undefined;

  /** Load of each core, over about the last second (over 250 ms at the first reading). */
  cores(): Promise<readonly CoreLoad[]> {
    this.#pending ??= this.#measure().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** Average over the cores, whole percent. */
  async load(): Promise<number> {
    const cores = await this.cores();
    return Math.round(cores.reduce((sum, { load }) => sum + load, 0) / Math.max(1, cores.length));
  }

  async #measure(): Promise<readonly CoreLoad[]> {
    let base = this.#base;
    if (base === undefined || performance.now() - base.at > MAX_SAMPLE_AGE_MS) {
      base = await sample();
      await new Promise((resolve) => setTimeout(resolve, FIRST_MS));
    } else if (performance.now() - base.at < SHARED_MS) return this.#cores;
    const now = await sample();
    this.#cores = loads(base.cores, now.cores);
    this.#base = now;
    return this.#cores;
  }
}

/** Load of each core between two samples, without cores that came online between them. */
export function loads(before: readonly CoreTimes[], now: readonly CoreTimes[]): CoreLoad[] {
  return now.map((core) => {
    const base = before.find(({ cpu }) => cpu === core.cpu);
    return base === undefined ? { cpu: core.cpu, load: 0, irq: 0, disk: 0 } : loadOf(core, base);
  });
}

function loadOf(core: CoreTimes, before: CoreTimes): CoreLoad {
  const { cpu } = core;
  const passed = (part: Exclude<keyof CoreTimes, 'cpu'>): number => Math.max(0, core[part] - before[part]);
  const total = passed('total');
  if (total === 0) return { cpu, load: 0, irq: 0, disk: 0 };
  const share = (ticks: number): number => Math.min(100, (100 * ticks) / total);
  return {
    cpu,
    load: share(Math.max(0, total - passed('idle') - passed('disk'))),
    irq: share(passed('irq')),
    disk: share(passed('disk')),
  };
}

async function sample(): Promise<Sample> {
  return { at: performance.now(), cores: await readCoreTimes() };
}

/** Times of each online core from the kernel. */
export async function readCoreTimes(): Promise<readonly CoreTimes[]> {
  return parseCoreTimes(await readFile('/proc/stat', 'utf8'));
}

/** The lines `cpu0` and up, of cores that are online, of `/proc/stat` (proc_stat(5)). */
export function parseCoreTimes(stat: string): CoreTimes[] {
  return [...stat.matchAll(/^cpu(\d+) (.*)$/gm)].map(([, cpu, line = '']) => {
    const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = line
      .trim()
      .split(/\s+/)
      .map(Number);
    // The times of guests are included in user and nice.
    return {
      cpu: Number(cpu),
      total: user + nice + system + idle + iowait + irq + softirq + steal,
      idle,
      irq: irq + softirq,
      disk: iowait,
    };
  });
}
