import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

const ACCEPTS = 'a date and time yyyy-mm-dd hh:mm:ss';

/** Wall clock of the router, `2026-03-01 12:00:00`. */
export const datetime: Kind = {
  name: 'datetime',
  accepts: ACCEPTS,
  parse(text) {
    const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})$/.exec(text);
    const iso = match && `${match[1]}T${match[2]}Z`;
    const time = iso ? Date.parse(iso) : Number.NaN;
    if (!iso || Number.isNaN(time) || !new Date(time).toISOString().startsWith(iso.slice(0, 19))) {
      return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    }
    return { ok: true, value: `${match[1]} ${match[2]}` };
  },
  filterType: 'amount',
  fromStored: datetimeOfStored,
  jsonSchema: { type: 'string' },
};

/** A point in time in the stored form: UTC, which does not depend on the router's time zone. */
export const storedDatetime = (msSince1970: number): string =>
  new Date(msSince1970).toISOString().slice(0, 19).replace('T', ' ');

/** Canonical text of a point in time by the router's clock, which conditions on the time of day use, too. */
export const datetimeText = (msSince1970: number): string =>
  storedDatetime(msSince1970 - new Date(msSince1970).getTimezoneOffset() * 60_000);

/** Canonical text of a stored point in time. */
function datetimeOfStored(stored: string): string {
  const ms = Date.parse(`${stored.replace(' ', 'T')}Z`);
  return Number.isNaN(ms) ? stored : datetimeText(ms);
}
