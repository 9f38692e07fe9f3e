/**
 * Property tests run the same cases each time; `npm run soak` sets `TOLLWAY_SOAK` to how many times as many to run, and
 * `TOLLWAY_SEED` to a fresh seed.
 */
import fc from 'fast-check';

const factor = Math.max(1, Number(process.env.TOLLWAY_SOAK ?? 1) || 1);
const seed = Number(process.env.TOLLWAY_SEED ?? 0) % 2 ** 31;

fc.configureGlobal({ seed, numRuns: 100 * factor });
