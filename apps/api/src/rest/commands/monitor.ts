import { setTimeout as sleep } from 'node:timers/promises';
import { durationMs } from '@tollway/schema';
import type { CommandCall } from '../../services.js';
import type { RestRow } from '../../view/rows.js';

/** Time between two samples of a monitor, ms. */
const INTERVAL_MS = 1_000;

/**
 * One sample with `once`; otherwise a sample each second for `duration`, or up to the time limit. Samples are numbered
 * by `.section`.
 */
export async function samples(
  { values, signal }: Pick<CommandCall, 'values' | 'signal'>,
  sample: () => Promise<readonly RestRow[]>,
): Promise<readonly RestRow[]> {
  if (values.once === 'true') return sample();
  const duration = durationMs(values.duration ?? '') ?? Number.POSITIVE_INFINITY;
  const all: RestRow[] = [];
  const end = performance.now() + duration;
  // A timer may fire a little early: then no further sample is taken.
  for (let section = 0; section * INTERVAL_MS < duration && performance.now() < end; section += 1) {
    for (const row of await sample()) all.push({ ...row, '.section': String(section) });
    await sleep(Math.max(0, Math.min(INTERVAL_MS, end - performance.now())), undefined, { signal });
  }
  return all;
}
