import type { Kind } from '../kind.js';
import { compareLeadingNumbers } from './int.js';
import { quoted } from './quoted.js';

/** Decimal fraction with at most three digits after the point. */
export function decimal({
  min,
  max,
  unit,
}: {
  readonly min: number;
  readonly max: number;
  readonly unit?: string;
}): Kind {
  const accepts = `a number ${min}..${max} with at most three decimals`;
  return {
    name: 'decimal',
    accepts,
    parse(text) {
      if (!/^\d{1,9}(\.\d{1,3}0*)?$/.test(text)) return { ok: false, error: `${quoted(text)} is not ${accepts}` };
      const value = Number(text);
      if (value < min || value > max) return { ok: false, error: `${quoted(text)} is out of range (${min}..${max})` };
      return { ok: true, value: String(value) };
    },
    compare: compareLeadingNumbers,
    ...(unit === undefined ? {} : { unit }),
    align: 'right',
    filterType: 'amount',
    jsonSchema: { type: ['string', 'number'] },
  };
}
