import type { Kind } from '../kind.js';
import { compareNumbers, thousands } from './int.js';
import { quoted } from './quoted.js';

/** Unsigned 64-bit count. */
export function counter(unit?: string): Kind {
  const accepts = 'a count, decimal digits';
  return {
    name: 'counter',
    accepts,
    parse(text) {
      if (!/^\d{1,20}$/.test(text) || BigInt(text) > 0xffff_ffff_ffff_ffffn) {
        return { ok: false, error: `${quoted(text)} is not ${accepts}` };
      }
      return { ok: true, value: BigInt(text).toString() };
    },
    display: thousands,
    compare: compareNumbers,
    ...(unit === undefined ? {} : { unit }),
    align: 'right',
    filterType: 'amount',
    widest: '9 999 999',
    jsonSchema: { type: 'string', pattern: '^[0-9]+$' },
  };
}
