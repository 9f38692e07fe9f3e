import type { Kind } from '../kind.js';
import { missingElement } from './comma-list.js';
import { durationMs, durationText } from './duration.js';
import { quoted } from './quoted.js';

/** Days of the week, Sunday first. */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const DAY_MS = 86_400_000;

/** A time span on some days of the week; if `toMs` is before `fromMs`, it extends past midnight. */
interface WeekdayTimes {
  /** Milliseconds after midnight, at most one day. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Elements of {@link WEEKDAYS}, in their order. */
  readonly days: readonly string[];
}

/** Parses `8h-17h,mon,tue`; without days it applies to every day. */
export function parseWeekdayTimes(text: string): WeekdayTimes | undefined {
  const [span = '', ...words] = text.split(',').map((part) => part.trim());
  const dash = span.indexOf('-');
  const fromMs = durationMs(span.slice(0, Math.max(0, dash)));
  const toMs = durationMs(span.slice(dash + 1));
  if (fromMs === undefined || toMs === undefined || fromMs > DAY_MS || toMs > DAY_MS) return undefined;
  if (!words.every((word) => WEEKDAYS.some((day) => day === word))) return undefined;
  return { fromMs, toMs, days: WEEKDAYS.filter((day) => words.length === 0 || words.includes(day)) };
}

const ACCEPTS = 'from-to within 0s..1d, then days of the week, such as 8h-17h,mon,tue';

/** A time span on some days of the week; the canonical text lists the days in order, all seven if none is given. */
export const weekdayTimes: Kind = {
  name: 'weekday-times',
  accepts: ACCEPTS,
  parse(text) {
    const missing = missingElement(text, 'a day of the week', 'from-to');
    if (missing !== undefined) return { ok: false, error: `${missing}; give ${ACCEPTS}` };
    const times = parseWeekdayTimes(text);
    if (!times) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    return { ok: true, value: `${durationText(times.fromMs)}-${durationText(times.toMs)},${times.days.join(',')}` };
  },
  jsonSchema: { type: 'string' },
};
