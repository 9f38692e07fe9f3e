import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

interface IntOptions {
  readonly min: number;
  readonly max: number;
  /** Words accepted beside numbers. */
  readonly keywords?: readonly string[];
  readonly unit?: string;
}

/** Decimal integer within bounds. */
export function int({ min, max, keywords = [], unit }: IntOptions): Kind {
  const accepts = `an integer ${min}..${max}${keywords.map((word) => ` or ${word}`).join('')}`;
  return {
    name: 'int',
    accepts,
    parse(text) {
      if (keywords.includes(text)) return { ok: true, value: text };
      if (!/^-?\d{1,15}$/.test(text)) return { ok: false, error: `${quoted(text)} is not ${accepts}` };
      const value = Number(text);
      if (value < min || value > max) return { ok: false, error: `${text} is out of range (${min}..${max})` };
      return { ok: true, value: String(value === 0 ? 0 : value) };
    },
    compare: compareNumbers,
    keywords,
    ...(unit === undefined ? {} : { unit }),
    align: 'right',
    filterType: 'amount',
    editor: 'number',
    jsonSchema: { type: ['string', 'integer'] },
  };
}

/** Order of decimal texts of any length; other texts come after all numbers. */
export function compareNumbers(a: string, b: string): number {
  const left = /^-?\d+$/.test(a) ? BigInt(a) : undefined;
  const right = /^-?\d+$/.test(b) ? BigInt(b) : undefined;
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1;
    if (right !== undefined) return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Order by the number at the beginning of a text; texts without one come last. */
export function compareLeadingNumbers(a: string, b: string): number {
  const left = Number.parseFloat(a);
  const right = Number.parseFloat(b);
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return left - right || a.localeCompare(b, 'en', { numeric: true });
}

/** Digits in groups of three with a space: `319 850`. */
export function thousands(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
}
