import type { Kind } from '../kind.js';
import { compareLeadingNumbers } from './int.js';
import { quoted } from './quoted.js';

/** Inclusive range of non-negative integers. */
export interface IntRange {
  readonly from: number;
  readonly to: number;
}

/** Parses `n` or `n-m` with n ≤ m. */
export function parseIntRange(text: string): IntRange | undefined {
  const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(text);
  if (!match) return undefined;
  const from = Number(match[1]);
  const to = Number(match[2] ?? match[1]);
  return to < from ? undefined : { from, to };
}

/** `n` or `n-m`. */
export const intRangeText = ({ from, to }: IntRange): string => (from === to ? `${from}` : `${from}-${to}`);

/** One integer or an inclusive range. */
export function intRange({ min, max }: { readonly min: number; readonly max: number }): Kind {
  const accepts = `a number or range n-m within ${min}..${max}`;
  return {
    name: 'int-range',
    accepts,
    parse(text) {
      const range = parseIntRange(text);
      if (!range) return { ok: false, error: `${quoted(text)} is not ${accepts}` };
      if (range.from < min || range.to > max)
        return { ok: false, error: `${quoted(text)} is out of range (${min}..${max})` };
      return { ok: true, value: intRangeText(range) };
    },
    compare: compareLeadingNumbers,
    jsonSchema: { type: ['string', 'integer'] },
  };
}
