/**
 * Times by the router's clock: log, lists and history show the same time for an event, whatever the time zone of the
 * browser.
 */

/**
 * Time zone of the router (tz database); undefined while it is unknown, or unknown to the browser: then the browser's
 * zone is used.
 */
let zone: string | undefined;
let format = formatOf(undefined);

function formatOf(timeZone: string | undefined): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en', {
    ...(timeZone !== undefined && { timeZone }),
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}

/** Sets the time zone of the router; an empty text if the router does not know it. */
export function followZone(name: string): void {
  const next = name === '' ? undefined : name;
  if (next === zone) return;
  zone = next;
  try {
    format = formatOf(zone);
  } catch {
    format = formatOf(undefined);
  }
}

function parts(timeMs: number): Readonly<Record<string, string>> {
  return Object.fromEntries(format.formatToParts(timeMs).map(({ type, value }) => [type, value]));
}

/** `14:03:09` */
export function timeOfDay(timeMs: number): string {
  const { hour, minute, second } = parts(timeMs);
  return `${hour}:${minute}:${second}`;
}

/** `2026-11-22 14:03:09` */
export function dateAndTime(timeMs: number): string {
  const { year, month, day } = parts(timeMs);
  return `${year}-${month}-${day} ${timeOfDay(timeMs)}`;
}
