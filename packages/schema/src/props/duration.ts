import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

const UNIT_MS: Readonly<Record<string, number>> = {
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
};
/** Largest duration that fits the milliseconds of the data plane, u32. */
export const MAX_DURATION_MS = 0xffff_ffff;

/** Milliseconds of `1w2d3h4m5s`, `500ms`, `1d 02:03:04`, `02:03:04` or plain seconds; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  const clock = /^(?:(\d{1,5})w)?(?:(\d{1,5})d)? ?(\d{1,6}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,3}))?)?$/.exec(text);
  if (clock) {
    const [, weeks, days, hours, minutes, seconds, fraction] = clock;
    if (Number(minutes) > 59 || Number(seconds ?? 0) > 59) return undefined;
    return (
      Number(weeks ?? 0) * 604_800_000 +
      Number(days ?? 0) * 86_400_000 +
      Number(hours) * 3_600_000 +
      Number(minutes) * 60_000 +
      Number(seconds ?? 0) * 1_000 +
      Number((fraction ?? '').padEnd(3, '0'))
    );
  }
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  if (!/^(\d{1,12}(ms|[wdhms]))+$/.test(text)) return undefined;
  let total = 0;
  let last = Number.POSITIVE_INFINITY;
  for (const [, digits, unit] of text.matchAll(/(\d+)(ms|[wdhms])/g)) {
    const size = UNIT_MS[unit ?? ''] ?? 0;
    if (size >= last) return undefined;
    last = size;
    total += Number(digits) * size;
  }
  return total;
}

/** Canonical text of a duration: `1w2d3h4m5s6ms`, `0s`. */
export function durationText(ms: number): string {
  let rest = ms;
  let text = '';
  for (const [unit, size] of Object.entries(UNIT_MS)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text || '0s';
}

/** Text of a duration for people: `1d 00:04:02`, `00:00:30`, `00:00:00.500`. */
export function displayDuration(value: string): string {
  const ms = durationMs(value);
  if (ms === undefined) return value;
  const two = (n: number): string => String(n).padStart(2, '0');
  const seconds = Math.floor(ms / 1_000);
  const days = Math.floor(seconds / 86_400);
  const clock = `${two(Math.floor(seconds / 3_600) % 24)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  const fraction = ms % 1_000 === 0 ? '' : `.${String(ms % 1_000).padStart(3, '0')}`;
  return `${days > 0 ? `${days}d ` : ''}${clock}${fraction}`;
}

interface DurationOptions {
  readonly minMs?: number;
  /** Longest duration, ms; {@link MAX_DURATION_MS} at most. */
  readonly maxMs?: number;
  /** Words accepted beside durations. */
  readonly keywords?: readonly string[];
  /** Noun that the error uses for a duration above {@link maxMs}, instead of the range. */
  readonly tooLong?: string;
}

/** Length of time, resolution 1 ms. */
export function duration({ minMs = 0, maxMs = MAX_DURATION_MS, keywords = [], tooLong }: DurationOptions = {}): Kind {
  const accepts = `a duration such as 30s, 1h30m, 1d or 00:05:00${keywords.map((word) => `, or ${word}`).join('')}`;
  return {
    name: 'duration',
    accepts,
    parse(text) {
      if (keywords.includes(text)) return { ok: true, value: text };
      const ms = durationMs(text);
      if (ms === undefined) return { ok: false, error: `${quoted(text)} is not ${accepts}` };
      if (ms > maxMs && tooLong !== undefined) return { ok: false, error: `${quoted(text)} is ${tooLong}` };
      if (ms < minMs || ms > maxMs) {
        return { ok: false, error: `${quoted(text)} is out of range (${durationText(minMs)}..${durationText(maxMs)})` };
      }
      return { ok: true, value: durationText(ms) };
    },
    display: displayDuration,
    sortKey: durationMs,
    compare: (a, b) => (durationMs(a) ?? -1) - (durationMs(b) ?? -1),
    keywords,
    align: 'right',
    filterType: 'amount',
    widest: '1d 00:00:00',
    jsonSchema: { type: 'string' },
  };
}
