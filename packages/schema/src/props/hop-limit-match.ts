import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

/** Hop limits that match: from the lowest to the highest, or all others. */
interface HopLimits {
  readonly from: number;
  readonly to: number;
  readonly negate: boolean;
}

const ACCEPTS = 'equal, not-equal, less-than or greater-than, with : and a hop limit 0..255';

/** Parses `equal:64` and the like; undefined also for comparisons that nothing meets. */
export function parseHopLimit(text: string): HopLimits | undefined {
  const [, how, digits] = /^(equal|not-equal|less-than|greater-than):(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const limit = Number(digits);
  if (how === undefined || limit > 255) return undefined;
  if (how === 'less-than') return limit === 0 ? undefined : { from: 0, to: limit - 1, negate: false };
  if (how === 'greater-than') return limit === 255 ? undefined : { from: limit + 1, to: 255, negate: false };
  return { from: limit, to: limit, negate: how === 'not-equal' };
}

/** Comparison with the hop limit of a packet. */
export const hopLimitMatch: Kind = {
  name: 'hop-limit',
  accepts: ACCEPTS,
  parse: (text) =>
    parseHopLimit(text) === undefined
      ? { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` }
      : { ok: true, value: text },
  jsonSchema: { type: 'string' },
};
