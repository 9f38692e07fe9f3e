/** Days of a queue, for the bar chart. Pure. */
import type { AccountedDay } from '../../../api/queue-accounting.ts';

const DAY_MS = 86_400_000;

const dateText = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The last days up to the newest known one, including days without traffic. */
export function lastDays(days: readonly AccountedDay[], count: number): readonly AccountedDay[] {
  const newest = days.at(-1);
  if (newest === undefined) return [];
  const known = new Map(days.map((day) => [day.date, day]));
  const end = Date.parse(newest.date);
  const none = newest.bytes.map(() => 0);
  return Array.from({ length: count }, (_, index) => {
    const date = dateText(end - (count - 1 - index) * DAY_MS);
    return known.get(date) ?? { date, bytes: none };
  });
}

/** Sum over days, by direction. */
export function sumOf(days: readonly AccountedDay[]): readonly number[] {
  return (days[0]?.bytes ?? []).map((_, which) => days.reduce((sum, { bytes }) => sum + (bytes[which] ?? 0), 0));
}
