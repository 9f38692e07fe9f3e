import type { Kind } from '../kind.js';
import { missingElement } from './comma-list.js';
import { compareLeadingNumbers } from './int.js';
import { type IntRange, intRangeText, parseIntRange } from './int-range.js';
import { quoted } from './quoted.js';

const ACCEPTS = 'a comma list of ports and ranges 0..65535 such as 80,443,1000-2000';

/** Ranges of `80,443,1000-2000`, or the text that is wrong. */
export function portRanges(text: string): { readonly ranges: readonly IntRange[] } | { readonly wrong: string } {
  const ranges: IntRange[] = [];
  for (const part of text.split(',')) {
    const range = parseIntRange(part.trim());
    if (!range || range.to > 65_535) return { wrong: part.trim() };
    ranges.push(range);
  }
  return { ranges };
}

/** TCP and UDP ports; the order of the list is kept, duplicates are removed. */
export const portList: Kind = {
  name: 'port-list',
  accepts: ACCEPTS,
  parse(text) {
    const missing = missingElement(text, 'a port or range');
    if (missing !== undefined) return { ok: false, error: `${missing}; give ${ACCEPTS}` };
    const result = portRanges(text);
    if ('wrong' in result) {
      const outside = /^\d+(-\d+)?$/.test(result.wrong) && result.wrong.split('-').some((n) => Number(n) > 65_535);
      return {
        ok: false,
        error: outside
          ? `${quoted(result.wrong)} is out of range (0..65535)`
          : `${quoted(result.wrong)} is not ${result.wrong === '' ? '' : 'in '}${ACCEPTS}`,
      };
    }
    return { ok: true, value: [...new Set(result.ranges.map(intRangeText))].join(',') };
  },
  compare: compareLeadingNumbers,
  closedSet: true,
  jsonSchema: { type: ['string', 'integer'] },
};
