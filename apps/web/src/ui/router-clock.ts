/** Times as the router's clock shows them: Log, lists and History name one moment by one time, whatever zone the browser is in. */

/** Zone of the router (tz database); undefined until it is known, and where the browser does not know it: the browser's then. */
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

/** The router says in which zone its clock is; an empty text: it does not. */
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
