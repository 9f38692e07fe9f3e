import type { Kind } from '../kind.js';
import { durationMs, durationText } from './duration.js';
import { quoted } from './quoted.js';

/** Largest duration that fits the microseconds of the data plane, u32. */
const MAX_US = 0xffff_ffff;

/** Microseconds of a duration whose last part may be `us`, `5ms250us`; undefined for anything else. */
export function durationUs(text: string): number | undefined {
  const match = /^(.*?)(?:(\d{1,10})us)?$/.exec(text);
  const [, rest = '', us] = match ?? [];
  const ms = rest === '' && us !== undefined ? 0 : durationMs(rest);
  return ms === undefined ? undefined : ms * 1_000 + Number(us ?? 0);
}

/** Canonical text of a duration: `1s5ms250us`, `0s`. */
function fineDurationText(us: number): string {
  const rest = us % 1_000;
  const ms = (us - rest) / 1_000;
  if (rest === 0) return durationText(ms);
  return `${ms === 0 ? '' : durationText(ms)}${rest}us`;
}

/** Length of time, resolution 1 µs. */
export function fineDuration({
  minUs = 0,
  maxUs = MAX_US,
}: {
  readonly minUs?: number;
  readonly maxUs?: number;
} = {}): Kind {
  const accepts = 'a duration such as 5ms, 100ms, 250us or 1s';
  return {
    name: 'fine-duration',
    accepts,
    parse(text) {
      const us = durationUs(text);
      if (us === undefined) return { ok: false, error: `${quoted(text)} is not ${accepts}` };
      if (us < minUs || us > maxUs) {
        const range = `${fineDurationText(minUs)}..${fineDurationText(maxUs)}`;
        return { ok: false, error: `${quoted(text)} is out of range (${range})` };
      }
      return { ok: true, value: fineDurationText(us) };
    },
    compare: (a, b) => (durationUs(a) ?? -1) - (durationUs(b) ?? -1),
    align: 'right',
    filterType: 'amount',
    jsonSchema: { type: 'string' },
  };
}
