import type { Kind } from '../define.js';
import { shown } from './shown.js';

const ACCEPTS = 'a date and time yyyy-mm-dd hh:mm:ss';

/** Wall clock, `2026-03-01 12:00:00`. */
export const datetime: Kind = {
  name: 'datetime',
  accepts: ACCEPTS,
  parse(text) {
    const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})$/.exec(text);
    const iso = match && `${match[1]}T${match[2]}Z`;
    const time = iso ? Date.parse(iso) : Number.NaN;
    if (!iso || Number.isNaN(time) || !new Date(time).toISOString().startsWith(iso.slice(0, 19))) {
      return { ok: false, error: `${shown(text)} is not ${ACCEPTS}` };
    }
    return { ok: true, value: `${match[1]} ${match[2]}` };
  },
  jsonSchema: { type: 'string', description: ACCEPTS },
};

/** Canonical text of a moment, UTC. */
export const datetimeText = (msSince1970: number): string =>
  new Date(msSince1970).toISOString().slice(0, 19).replace('T', ' ');
