import type { Kind } from '../kind.js';
import { compareLeadingNumbers } from './int.js';
import { quoted } from './quoted.js';

const ACCEPTS = 'a percentage 0..100';

/** Share in percent, up to one decimal. */
export const percent: Kind = {
  name: 'percent',
  accepts: ACCEPTS,
  parse(text) {
    if (!/^\d{1,3}(\.\d{1,6})?%?$/.test(text)) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    const value = Number.parseFloat(text);
    if (value > 100) return { ok: false, error: `${quoted(text)} is out of range (0..100)` };
    return { ok: true, value: String(Math.floor(value * 10) / 10) };
  },
  display: (value) => `${value}%`,
  compare: compareLeadingNumbers,
  unit: '%',
  align: 'right',
  filterType: 'amount',
  share: true,
  jsonSchema: { type: ['string', 'number'] },
};
