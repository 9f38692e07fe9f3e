import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Longest piece of work between two turns of the event loop that is accepted, ms on the machine of `REFERENCE_MS`. */
export const MAX_MS = 50;
/** CPU time of the work in `slowness` on a core of an EPYC server that has nothing else to do, ms. */
const REFERENCE_MS = 40;

setFlagsFromString('--expose-gc');
/** Collects what a test itself has left behind, which is no work of the router's. */
const collectGarbage: () => void = runInNewContext('gc');

/**
 * CPU time of this thread, ms: a machine that is busy with other things makes it not more (proc_pid_schedstat). It may lag by
 * a tick of the kernel, 4 ms.
 */
const workedMs = (): number => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;

const rows = Array.from({ length: 4_000 }, (_, n) => ({ name: `name-${(n * 7_919) % 4_000}`, target: `10.0.${n}`, n }));

/**
 * How many times as long as on the machine of `REFERENCE_MS` work of the kinds that a request takes is at the moment: texts
 * are written, read and sorted. 1 for what is faster.
 */
function slowness(): number {
  const before = workedMs();
  for (let round = 0; round < 10; round += 1) {
    const read: typeof rows = JSON.parse(JSON.stringify(rows));
    read.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  return Math.max(1, (workedMs() - before) / REFERENCE_MS);
}

/**
 * Runs something until no piece of work between two turns of the event loop took `MAX_MS` or longer, `tries` times at most.
 * What blocks does so each time; a collection of garbage, or a neighbour that takes the caches, does not.
 * @returns what the last run gave, and the longest piece of the best run, ms on the machine of `REFERENCE_MS`
 */
export async function longestTurn<T>(work: () => Promise<T>, tries: number): Promise<{ result: T; ms: number }> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 1; ; run += 1) {
    let longest = 0;
    let before = workedMs();
    const look = () => {
      const now = workedMs();
      longest = Math.max(longest, now - before);
      before = now;
    };
    // Between two turns of the event loop timers that are due run, so that this adds a millisecond at most.
    const timer = setInterval(look, 1);
    const result = await work();
    await new Promise((resolve) => setImmediate(resolve));
    clearInterval(timer);
    look();
    best = Math.min(best, longest < MAX_MS ? longest : longest / slowness());
    if (best < MAX_MS || run >= tries) return { result, ms: best };
    // Where a run was too long, this may have been why.
    collectGarbage();
  }
}
