// @ts-check
/** Samples taken in turns, and their evaluation. */
import { setTimeout as sleep } from 'node:timers/promises';
import { measureBusy } from './busy.mjs';

/** Share of one core that other programs may use during a sample. */
const FOREIGN = 0.03;
/** Maximum time that a case spends on waiting for other programs and on samples that they disturbed, ms. */
const MAX_WAITING_MS = 60_000;

/**
 * CPU time while `action` runs, and what it returns.
 * @template T
 * @param {() => Promise<T>} action
 * @returns {Promise<import('./busy.mjs').Busy & { result: T }>}
 */
export async function measured(action) {
  const finish = measureBusy();
  const result = await action();
  return { ...finish(), result };
}

/**
 * Takes samples on the wires in turn, A-B-C-A-B-C-…, so that a change of the machine's mood meets all
 * alike. Waits until other programs use little CPU time; samples that they disturb are taken again. With TOLLWAY_BENCH_RAW set
 * every sample is printed.
 * @template {string} W
 * @template {import('./busy.mjs').Busy} S
 * @param {number} rounds
 * @param {readonly W[]} wires
 * @param {(line: string) => void} note
 * @param {(wire: W) => Promise<S>} take
 * @returns {Promise<Map<W, S[]>>}
 */
export async function inTurns(rounds, wires, note, take) {
  /** @type {Map<W, S[]>} */
  const samples = new Map(wires.map((wire) => [wire, []]));
  let remainingMs = MAX_WAITING_MS;
  const elsewhere = (/** @type {import('./busy.mjs').Busy} */ sample) => sample.foreign / sample.seconds;
  for (let round = 0; round < rounds; round += 1) {
    for (const wire of wires) {
      for (;;) {
        const started = performance.now();
        while (performance.now() - started < remainingMs && elsewhere(await measured(() => sleep(300))) > FOREIGN) {
          // Another program is busy; measure again.
        }
        remainingMs -= performance.now() - started;
        const sample = await take(wire);
        if (process.env.TOLLWAY_BENCH_RAW) note(`  ${wire} ${JSON.stringify(sample)}`);
        const disturbed = elsewhere(sample) > FOREIGN;
        if (disturbed) remainingMs -= sample.seconds * 1000;
        if (disturbed && remainingMs > 0) continue;
        if (disturbed) note(`  ${wire}: other programs used ${percent(elsewhere(sample))} of a core`);
        samples.get(wire)?.push(sample);
        break;
      }
    }
  }
  return samples;
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const [low = Number.NaN, high = low] = sorted.slice(Math.floor((sorted.length - 1) / 2));
  return sorted.length % 2 === 1 ? low : (low + high) / 2;
}

/** Half the range of values, relative to their median. @param {readonly number[]} values */
export const spread = (values) => (Math.max(...values) - Math.min(...values)) / 2 / Math.abs(median(values));

/** @param {number} share */
export const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
