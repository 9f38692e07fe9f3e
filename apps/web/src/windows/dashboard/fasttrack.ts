/** Texts of the FastTrack tile. Pure. */
import type { Sample } from '../../api/traffic.ts';
import { withUnit } from '../../ui/units.ts';

/** Text when there is no value. */
const NOTHING = '–';

/** `87.3%`: share of the received packets that took FastTrack; `–` without packets. */
export function fasttrackText(sample: Pick<Sample, 'interfaces' | 'fasttrackShare'> | undefined): string {
  if (sample === undefined) return NOTHING;
  const { interfaces, fasttrackShare } = sample;
  // The share is measured since the previous sample, and the rates over the last full second.
  const isQuiet = fasttrackShare === 0 && [...interfaces.values()].every(({ rxPps }) => rxPps === 0);
  return isQuiet ? NOTHING : withUnit(fasttrackShare * 100, '%');
}
