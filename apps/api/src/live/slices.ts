import { performance } from 'node:perf_hooks';

/** Longest piece of work before everything else that waits gets its turn, ms. */
const SLICE_MS = 8;
/** Items between two looks at the clock, which costs as much as a cheap item. Few enough that dear ones make no long slice. */
const STRIDE = 8;

/** Those whose slice is over, in the order in which they paused. */
const waiting: (() => void)[] = [];

/** One continues per turn of the event loop: many viewers of long tables do not add up to one long stall. */
function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}

/** Thrown out of an evaluation for which nobody waits any more. */
export class Stopped extends Error {}

/** A long evaluation, cut into slices so that requests and other viewers need not wait for its end. */
export class Slices {
  #since = performance.now();
  #worked = 0;
  readonly #stop: AbortSignal | undefined;

  /** @param stop aborted when nobody waits for the outcome any more. */
  constructor(stop?: AbortSignal) {
    this.#stop = stop;
  }

  /** True when it is time to {@link pause}. */
  get over(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  /** The same in a loop, before the item of this number, counted from any. */
  overAt(item: number): boolean {
    return item % STRIDE === 0 && this.over;
  }

  /** Time spent working so far, pauses left out, ms. */
  get workedMs(): number {
    return this.#worked + performance.now() - this.#since;
  }

  /** What `work` makes of each item. @throws Stopped when nobody waits for the outcome any more. */
  async map<Item, Result>(items: readonly Item[], work: (item: Item, index: number) => Result): Promise<Result[]> {
    const results: Result[] = [];
    for (const [index, item] of items.entries()) {
      if (this.overAt(index)) await this.pause();
      results.push(work(item, index));
    }
    return results;
  }

  /** @throws Stopped when nobody waits for the outcome any more. */
  async pause(): Promise<void> {
    if (this.#stop?.aborted) throw new Stopped();
    this.#worked += performance.now() - this.#since;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(next);
    });
    this.#since = performance.now();
    if (this.#stop?.aborted) throw new Stopped();
  }
}
