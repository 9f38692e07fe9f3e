/** Texts of the FastTrack tile. Pure. */
import type { Sample } from '../../api/traffic.ts';
import { withUnit } from '../../ui/units.ts';

/** Text where there is nothing to tell. */
const NOTHING = '–';

/** `87.3%`: share of the packets received that took FastTrack; of no packets there is no share. */
export function fasttrackText(sample: Pick<Sample, 'interfaces' | 'fasttrackShare'> | undefined): string {
  if (sample === undefined) return NOTHING;
  const { interfaces, fasttrackShare } = sample;
  // The share is that of the time since the sample before, and the rates are those of the last full second.
  const isQuiet = fasttrackShare === 0 && [...interfaces.values()].every(({ rxPps }) => rxPps === 0);
  return isQuiet ? NOTHING : withUnit(fasttrackShare * 100, '%');
}
