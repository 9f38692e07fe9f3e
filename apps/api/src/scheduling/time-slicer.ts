import { performance } from 'node:perf_hooks';

/** Maximum time of work without a pause, ms: other work of the event loop waits meanwhile. */
const SLICE_MS = 8;
/**
 * Number of items between two checks of the clock, as a check costs as much as a cheap item. Small, so that expensive
 * items do not exceed the slice.
 */
const STRIDE = 8;

/** Id of the user for whom an evaluation runs; undefined for the router itself. */
type Owner = number | undefined;

/** Waiting evaluations of one owner, in the order of arrival. */
interface OwnerQueue {
  /** Requests that have not begun: their cost is unknown, and mostly small. */
  readonly requests: (() => void)[];
  /** Evaluations that have used up their slice. */
  readonly evaluations: (() => void)[];
}

/** Waiting evaluations by owner; owners in round-robin order. */
const waiting = new Map<Owner, OwnerQueue>();

/**
 * Continues one evaluation per turn of the event loop, so that many viewers of long tables do not add up to one long
 * stall. Owners are served round-robin: an owner with very many evaluations delays no other owner.
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

/** Runs an evaluation to its end without pauses; it yields wherever a pause would be possible. Returns its result. */
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
   * @param owner the user for whom the evaluation runs.
   */
  constructor(stop?: AbortSignal, owner?: Owner) {
    this.#stop = stop;
    this.#owner = owner;
  }

  /** Whether the slice is used up, so that the evaluation should {@link pause}. */
  get over(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  /** {@link over} for loops over items: the clock is checked at some of the items only. */
  overAt(item: number): boolean {
    return item % STRIDE === 0 && this.over;
  }

  /** Time spent working so far, without pauses, ms. */
  get workedMs(): number {
    return this.#worked + performance.now() - this.#since;
  }

  /** Maps items in slices. @throws Cancelled when the evaluation was cancelled. */
  async map<Item, Result>(items: readonly Item[], work: (item: Item, index: number) => Result): Promise<Result[]> {
    const results: Result[] = [];
    for (const [index, item] of items.entries()) {
      if (this.overAt(index)) await this.pause();
      results.push(work(item, index));
    }
    return results;
  }

  /**
   * The result of an evaluation that yields wherever it may pause. @throws Cancelled when the evaluation was cancelled.
   */
  async finish<Result>(steps: Generator<undefined, Result>): Promise<Result> {
    for (let item = 0; ; item += 1) {
      if (this.overAt(item)) await this.pause();
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** Waits for the next slice. @throws Cancelled when the evaluation was cancelled. */
  async pause(): Promise<void> {
    if (this.#stop?.aborted) throw new Cancelled();
    this.#worked += performance.now() - this.#since;
    await new Promise<void>((resolve) => wait(this.#owner, 'evaluations', resolve));
    this.#since = performance.now();
    if (this.#stop?.aborted) throw new Cancelled();
  }
}

/**
 * Starts an evaluation when its owner's turn comes. Evaluations that share a reading of the data plane get it in the
 * same turn of the event loop; starting them one by one keeps them from all running in that turn.
 *
 * @throws Cancelled when the evaluation was cancelled.
 */
export async function startSlicer(stop: AbortSignal, owner: Owner): Promise<TimeSlicer> {
  const slicer = new TimeSlicer(stop, owner);
  await slicer.pause();
  return slicer;
}

/**
 * Waits for the turn in which a request may begin: before running evaluations of the same user. @throws Cancelled when
 * its client has disconnected.
 */
export async function requestTurn(gone: AbortSignal, user: number): Promise<void> {
  await new Promise<void>((resolve) => wait(user, 'requests', resolve));
  if (gone.aborted) throw new Cancelled();
}
