import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

const ACCEPTS = 'a mask of 32 bits as 0x1818 or a decimal number';

/** Mask of 32 bits; the canonical text is hexadecimal. */
export const hexMask: Kind = {
  name: 'hex-mask',
  accepts: ACCEPTS,
  parse(text) {
    const value = /^(0[xX][\da-fA-F]{1,8}|\d{1,10})$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= 0xffff_ffff)) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    return { ok: true, value: `0x${value.toString(16).toUpperCase()}` };
  },
  // Canonical texts: the longer one is the greater number.
  compare: (a, b) => a.length - b.length || (a < b ? -1 : Number(a > b)),
  align: 'right',
  jsonSchema: { type: ['string', 'integer'] },
};
