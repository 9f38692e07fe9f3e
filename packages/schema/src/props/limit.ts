import type { Kind } from '../kind.js';
import { missingElement } from './comma-list.js';
import { durationMs, durationText } from './duration.js';
import { quoted } from './quoted.js';
import { configuredRate } from './rate.js';

/** Token bucket: `rate` tokens are added every `perMs` ms, up to `burst` tokens. */
interface Limit {
  readonly rate: number;
  readonly perMs: number;
  readonly burst: number;
  readonly unit: 'packet' | 'bit';
}

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** A count above 0, optionally with k, M or G. */
function count(text: string): number | undefined {
  const parsed = configuredRate.parse(text.trim());
  return parsed.ok && parsed.value !== '0' ? Number(parsed.value) : undefined;
}

/** Parses `rate[/time],burst[:packet|bit]`; the default time is 1s, and the default unit packet. */
export function parseLimit(text: string): Limit | undefined {
  const match = /^([^,/]+)(?:\/([^,]+))?,([^:]+)(?::(packet|bit))?$/.exec(text);
  const rate = count(match?.[1] ?? '');
  const burst = count(match?.[3] ?? '');
  const perMs = match?.[2] === undefined ? SECOND_MS : durationMs(match[2].trim());
  if (rate === undefined || burst === undefined || perMs === undefined) return undefined;
  if (perMs < 10 || perMs > DAY_MS) return undefined;
  return { rate, perMs, burst, unit: match?.[4] === 'bit' ? 'bit' : 'packet' };
}

const ACCEPTS =
  'rate[/time],burst[:packet|bit], counts above 0 and a time of 10ms..1d, such as 10,5:packet or 1M,2M:bit';

/** Rate and depth of a token bucket; the canonical text includes the unit, and the time unless it is one second. */
export const limit: Kind = {
  name: 'limit',
  accepts: ACCEPTS,
  parse(text) {
    const missing = missingElement(text, 'the burst', 'the rate');
    if (missing !== undefined) return { ok: false, error: `${missing}; give ${ACCEPTS}` };
    const parsed = parseLimit(text);
    if (!parsed) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    const per = parsed.perMs === SECOND_MS ? '' : `/${durationText(parsed.perMs)}`;
    return { ok: true, value: `${parsed.rate}${per},${parsed.burst}:${parsed.unit}` };
  },
  jsonSchema: { type: 'string' },
};
