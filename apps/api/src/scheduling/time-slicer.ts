import { performance } from 'node:perf_hooks';

/** Longest piece of work before everything else that waits gets its turn, ms. */
const SLICE_MS = 8;
/** Items between two looks at the clock, which costs as much as a cheap item. Few enough that dear ones make no long slice. */
const STRIDE = 8;

/** User, by number, that an evaluation is for; undefined for the router itself. */
type Owner = number | undefined;

/** Waiting evaluations of one owner, in the order in which they came. */
interface OwnerQueue {
  /** Requests that begin: what they take is not known yet, and most take little. */
  readonly requests: (() => void)[];
  /** Evaluations whose slice is over. */
  readonly evaluations: (() => void)[];
}

/** Waiting evaluations by owner; owners in round-robin order. */
const waiting = new Map<Owner, OwnerQueue>();

/**
 * One continues per turn of the event loop: many viewers of long tables do not add up to one long stall. Owners continue
 * by turns: whoever has very many evaluations under way keeps none but himself waiting.
 */
function next(): void {
  const [first] = waiting;
  if (first === undefined) return;
  const [owner, queue] = first;
  const resume = queue.requests.shift() ?? queue.evaluations.shift();
  waiting.delete(owner);
  if (queue.requests.length > 0 || queue.evaluations.length > 0) waiting.set(owner, queue);
  if (waiting.size > 0) setImmediate(next);
  resume?.();
}

function wait(owner: Owner, kind: keyof OwnerQueue, resume: () => void): void {
  const queue = waiting.get(owner) ?? { requests: [], evaluations: [] };
  queue[kind].push(resume);
  if (!waiting.has(owner) && waiting.set(owner, queue).size === 1) setImmediate(next);
}

/** Runs an evaluation that yields wherever it may pause to its end, without a pause. Returns its result. */
export function runToEnd<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Thrown by an evaluation that was cancelled. */
export class Cancelled extends Error {}

/** A long evaluation, cut into slices so that requests and other viewers need not wait for its end. */
export class TimeSlicer {
  #since = performance.now();
  #worked = 0;
  readonly #stop: AbortSignal | undefined;
  readonly #owner: Owner;

  /**
   * @param stop aborted when the result is no longer needed.
   * @param owner for whom it is.
   */
  constructor(stop?: AbortSignal, owner?: Owner) {
    this.#stop = stop;
    this.#owner = owner;
  }

  /** True when it is time to {@link pause}. */
  get over(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  /** Value of {@link over} for a loop: checked only at some of the items. */
  overAt(item: number): boolean {
    return item % STRIDE === 0 && this.over;
  }

  /** Time spent working so far, pauses left out, ms. */
  get workedMs(): number {
    return this.#worked + performance.now() - this.#since;
  }

  /** Maps items in slices. @throws Cancelled when it was cancelled. */
  async map<Item, Result>(items: readonly Item[], work: (item: Item, index: number) => Result): Promise<Result[]> {
    const results: Result[] = [];
    for (const [index, item] of items.entries()) {
      if (this.overAt(index)) await this.pause();
      results.push(work(item, index));
    }
    return results;
  }

  /** The outcome of an evaluation that yields wherever it may pause. @throws Cancelled when it was cancelled. */
  async finish<Result>(steps: Generator<undefined, Result>): Promise<Result> {
    for (let item = 0; ; item += 1) {
      if (this.overAt(item)) await this.pause();
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** @throws Cancelled when it was cancelled. */
  async pause(): Promise<void> {
    if (this.#stop?.aborted) throw new Cancelled();
    this.#worked += performance.now() - this.#since;
    await new Promise<void>((resolve) => wait(this.#owner, 'evaluations', resolve));
    this.#since = performance.now();
    if (this.#stop?.aborted) throw new Cancelled();
  }
}

/**
 * Starts an evaluation in its owner's turn. Whoever shares a reading of the data plane gets it in the same turn of the
 * event loop: they are not to be served in that one turn.
 *
 * @throws Cancelled when it was cancelled.
 */
export async function startSlicer(stop: AbortSignal, owner: Owner): Promise<TimeSlicer> {
  const slicer = new TimeSlicer(stop, owner);
  await slicer.pause();
  return slicer;
}

/** The turn in which a request begins: before what its user has under way. @throws Cancelled when its client has gone. */
export async function requestTurn(gone: AbortSignal, user: number): Promise<void> {
  await new Promise<void>((resolve) => wait(user, 'requests', resolve));
  if (gone.aborted) throw new Cancelled();
}
