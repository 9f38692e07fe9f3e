/**
 * Spreads the drawing of live values over frames. Values of many windows arrive in one message; drawing them in one
 * frame would make that frame long. Each job runs at most twice a second, in the order of the requests, and one frame
 * runs jobs for a millisecond or two.
 */

/** Time for jobs in one frame, ms; at least one job runs. */
const BUDGET_MS = 1.5;
/** Minimum time between two runs of one job, ms; less than half a second, as timers are not exact. */
const MIN_MS = 450;

/** Clock and frames that drive the queue: the browser's, or those of a test. */
interface FrameClock {
  now(): number;
  /** Calls back before the next frame. */
  frame(callback: () => void): void;
  /** Calls back after a time, ms. */
  after(callback: () => void, ms: number): void;
}

/** A job that draws. */
interface PaintJob {
  /** Requests a run; further requests before the run have no effect. */
  ask(): void;
  /** Cancels pending and further runs. */
  cancel(): void;
}

interface Waiting {
  readonly draw: () => void;
  state: 'idle' | 'asked' | 'cancelled';
  lastRun: number;
}

export class PaintQueue {
  readonly #clock: FrameClock;
  readonly #ready: Waiting[] = [];
  #framing = false;

  constructor(clock: FrameClock) {
    this.#clock = clock;
  }

  job(draw: () => void): PaintJob {
    const waiting: Waiting = { draw, state: 'idle', lastRun: Number.NEGATIVE_INFINITY };
    return {
      ask: () => {
        if (waiting.state !== 'idle') return;
        waiting.state = 'asked';
        const wait = waiting.lastRun + MIN_MS - this.#clock.now();
        if (wait > 0) this.#clock.after(() => this.#enter(waiting), wait);
        else this.#enter(waiting);
      },
      cancel: () => {
        waiting.state = 'cancelled';
      },
    };
  }

  #enter(waiting: Waiting): void {
    if (waiting.state !== 'asked') return;
    this.#ready.push(waiting);
    this.#request();
  }

  #request(): void {
    if (this.#framing) return;
    this.#framing = true;
    this.#clock.frame(() => this.#run());
  }

  #run(): void {
    this.#framing = false;
    const started = this.#clock.now();
    do {
      const waiting = this.#ready.shift();
      if (waiting?.state !== 'asked') continue;
      waiting.state = 'idle';
      waiting.lastRun = this.#clock.now();
      waiting.draw();
    } while (this.#ready.length > 0 && this.#clock.now() - started < BUDGET_MS);
    if (this.#ready.length > 0) this.#request();
  }
}

/** The page's queue. A hidden page gets no frames, so that nothing is drawn then. */
export const paintQueue = new PaintQueue({
  now: () => performance.now(),
  frame: (callback) => requestAnimationFrame(callback),
  after: (callback, ms) => setTimeout(callback, ms),
});
