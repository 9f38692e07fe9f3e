import { setTimeout as sleep } from 'node:timers/promises';
import { durationMs } from '@tollway/schema';
import { textOf } from '../../config/content.js';
import { errors } from '../../errors.js';
import type { Call } from '../../services.js';
import type { RestRow } from '../../view/rows.js';
import { switchedOn } from '../arguments.js';
import { projected, proplistOf } from '../listing.js';

/** Time between two samples of a monitor, ms. */
const EACH_MS = 1_000;
/** Longest time that samples are taken for, ms: that of a request. */
const LONGEST_MS = 60_000;

/**
 * One sample with `once`; otherwise a sample each second for `duration`, or until the time limit, numbered by
 * `.section`.
 */
export async function samples(
  { args, signal }: Pick<Call, 'args' | 'signal'>,
  sample: () => Promise<readonly RestRow[]>,
): Promise<readonly RestRow[]> {
  const names = proplistOf(args['.proplist']);
  if (switchedOn(args, 'once')) return projected(await sample(), names);
  const duration =
    args.duration === undefined ? Number.POSITIVE_INFINITY : durationMs(textOf('duration', args.duration));
  if (duration === undefined) throw errors.badProperty('duration', 'value of duration: give a duration such as 3s');
  if (args.duration !== undefined && duration > LONGEST_MS) {
    throw errors.badProperty('duration', 'value of duration: it is longer than a minute');
  }
  const all: RestRow[] = [];
  const end = performance.now() + duration;
  // A timer may end a little before its time: that is no time for another sample.
  for (let section = 0; section * EACH_MS < duration && performance.now() < end; section += 1) {
    for (const row of projected(await sample(), names)) all.push({ ...row, '.section': String(section) });
    await sleep(Math.max(0, Math.min(EACH_MS, end - performance.now())), undefined, { signal });
  }
  return all;
}
