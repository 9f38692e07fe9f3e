import type { Kind } from '../define.js';
import { compareNumbers } from './int.js';
import { shown } from './shown.js';

const UNITS: Readonly<Record<string, number>> = { '': 0, k: 3, K: 3, M: 6, G: 9, T: 12 };
const NAMES = ['bps', 'kbps', 'Mbps', 'Gbps', 'Tbps'];
const ACCEPTS = 'a rate in bits per second, optionally with k, M or G';

/** Bit rate; the canonical text is plain bits per second. Suffixes are decimal. */
export const rate: Kind = {
  name: 'rate',
  accepts: ACCEPTS,
  parse(text) {
    const match = /^(\d{1,20})(?:\.(\d{1,12}))?([kKMGT]?)(?:bps)?$/.exec(text);
    const zeros = UNITS[match?.[3] ?? ''] ?? 0;
    const fraction = match?.[2] ?? '';
    if (!match || fraction.length > zeros) return { ok: false, error: `${shown(text)} is not ${ACCEPTS}` };
    const value = BigInt(`${match[1]}${fraction}${'0'.repeat(zeros - fraction.length)}`);
    if (value > 0xffff_ffff_ffff_ffffn) return { ok: false, error: `${shown(text)} is not ${ACCEPTS}` };
    return { ok: true, value: value.toString() };
  },
  display: displayRate,
  edit: shortRate,
  compare: compareNumbers,
  unit: 'bit/s',
  align: 'right',
  jsonSchema: { type: ['string', 'integer'], description: ACCEPTS },
};

/** `20M` for `20000000`, `1500k` for `1500000`: the largest suffix that leaves a whole number. */
function shortRate(value: string): string {
  const zeros = /0*$/.exec(value)?.[0].length ?? 0;
  if (zeros === value.length) return value;
  const suffix = ['T', 'G', 'M', 'k'].find((each) => (UNITS[each] ?? 0) <= zeros) ?? '';
  return `${value.slice(0, value.length - (UNITS[suffix] ?? 0))}${suffix}`;
}

/** `7.4Gbps`, one decimal, truncated. */
export function displayRate(value: string): string {
  if (!/^\d+$/.test(value)) return value;
  const bits = BigInt(value);
  let step = 0;
  let unit = 1n;
  while (bits >= unit * 1000n && step < NAMES.length - 1) {
    unit *= 1000n;
    step += 1;
  }
  const name = NAMES[step] ?? 'bps';
  const tenths = (bits * 10n) / unit;
  return step === 0 ? `${bits}${name}` : `${tenths / 10n}.${tenths % 10n}${name}`;
}
