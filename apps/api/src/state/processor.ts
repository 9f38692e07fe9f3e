import { cpus } from 'node:os';

interface Sample {
  readonly at: number;
  readonly cores: readonly { readonly busy: number; readonly total: number }[];
}

/** Shortest and longest distance of two samples that give a load, ms. */
const SHORTEST_MS = 250;
const LONGEST_MS = 10_000;

/** Load of the box's processor, by the kernel's account of each core. */
export class Processor {
  #base: Sample | undefined;
  #loads: readonly number[] = [];
  #pending: Promise<readonly number[]> | undefined;

  /** Per core, percent, since the last call (or over 250 ms when that is long ago). */
  loads(): Promise<readonly number[]> {
    this.#pending ??= this.#measure().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** Average over the cores, whole percent. */
  async load(): Promise<number> {
    const loads = await this.loads();
    return Math.round(loads.reduce((sum, load) => sum + load, 0) / Math.max(1, loads.length));
  }

  async #measure(): Promise<readonly number[]> {
    if (this.#base === undefined || Date.now() - this.#base.at > LONGEST_MS) {
      this.#base = sample();
      await new Promise((resolve) => setTimeout(resolve, SHORTEST_MS));
    }
    if (Date.now() - this.#base.at < SHORTEST_MS && this.#loads.length > 0) return this.#loads;
    const now = sample();
    const base = this.#base;
    this.#loads = now.cores.map((core, index) => {
      const before = base.cores[index];
      const total = core.total - (before?.total ?? 0);
      return total > 0 ? (100 * (core.busy - (before?.busy ?? 0))) / total : 0;
    });
    this.#base = now;
    return this.#loads;
  }
}

function sample(): Sample {
  const cores = cpus().map(({ times }) => {
    const busy = times.user + times.nice + times.sys + times.irq;
    return { busy, total: busy + times.idle };
  });
  return { at: Date.now(), cores };
}
