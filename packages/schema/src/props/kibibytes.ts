import type { Kind } from '../kind.js';
import { displayBytes } from './bytes.js';
import { compareNumbers } from './int.js';
import { quoted } from './quoted.js';

const UNITS: Readonly<Record<string, number>> = { '': 1, K: 1, KIB: 1, M: 1024, MIB: 1024, G: 1 << 20, GIB: 1 << 20 };
const ACCEPTS = 'a number of KiB from 1, optionally with KiB, MiB or GiB';
/** Largest amount, KiB: 4 GiB. */
const MAX = 4 << 20;

/** Amount of data in units of 1,024 bytes; the canonical text is the number of these units. */
export const kibibytes: Kind = {
  name: 'kibibytes',
  accepts: ACCEPTS,
  parse(text) {
    const match = /^(\d{1,9}) ?([A-Za-z]*)$/.exec(text);
    const unit = match?.[2]?.toUpperCase() ?? '?';
    const value = Number(match?.[1] ?? 0) * (Object.hasOwn(UNITS, unit) ? (UNITS[unit] ?? 0) : 0);
    if (value < 1 || value > MAX) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    return { ok: true, value: String(value) };
  },
  display: (value) => (/^\d+$/.test(value) ? displayBytes(String(BigInt(value) * 1024n)) : value),
  compare: compareNumbers,
  unit: 'KiB',
  align: 'right',
  filterType: 'amount',
  jsonSchema: { type: ['string', 'integer'] },
};
