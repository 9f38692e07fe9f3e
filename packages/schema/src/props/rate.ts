import type { Kind, Parsed } from '../kind.js';
import { compareNumbers } from './int.js';
import { quoted } from './quoted.js';

const UNITS: Readonly<Record<string, number>> = { '': 0, k: 3, K: 3, M: 6, G: 9, T: 12 };
const NAMES = ['bps', 'kbps', 'Mbps', 'Gbps', 'Tbps'];
const ACCEPTS = 'a rate in bits per second, optionally with k, M or G';

/** Maximum rate by a 64-bit counter, bit/s. */
const COUNTED = 0xffff_ffff_ffff_ffffn;

/** Bit rate; the canonical text is plain bits per second. Suffixes are decimal. */
export const rate: Kind = rateUpTo(COUNTED, ACCEPTS);

/** Highest rate that can be configured, bit/s. */
const CONFIGURABLE = 1_000_000_000_000n;

/** Bit rate that a user sets. */
export const configuredRate: Kind = rateUpTo(CONFIGURABLE, `${ACCEPTS}, at most 1T`);

function rateUpTo(max: bigint, accepts: string): Kind {
  const refusal = (text: string): Parsed => ({ ok: false, error: `${quoted(text)} is not ${accepts}` });
  return {
    name: 'rate',
    accepts,
    parse(text) {
      const match = /^(\d{1,20})(?:\.(\d{1,12}))?([kKMGT]?)(?: ?bps)?$/.exec(text);
      const zeros = UNITS[match?.[3] ?? ''] ?? 0;
      const fraction = match?.[2] ?? '';
      if (!match || fraction.length > zeros) return refusal(text);
      const value = BigInt(`${match[1]}${fraction}${'0'.repeat(zeros - fraction.length)}`);
      return value > max ? refusal(text) : { ok: true, value: value.toString() };
    },
    display: displayRate,
    edit: shortRate,
    compare: compareNumbers,
    unit: 'bps',
    align: 'right',
    filterType: 'amount',
    widest: '999.9 Mbps',
    jsonSchema: { type: ['string', 'integer'] },
  };
}

/** `20M` for `20000000`, `1500k` for `1500000`: the largest suffix that leaves a whole number. */
function shortRate(value: string): string {
  const zeros = /0*$/.exec(value)?.[0].length ?? 0;
  if (zeros === value.length) return value;
  const suffix = ['T', 'G', 'M', 'k'].find((each) => (UNITS[each] ?? 0) <= zeros) ?? '';
  return `${value.slice(0, value.length - (UNITS[suffix] ?? 0))}${suffix}`;
}

/** `7.4 Gbps`, one decimal, truncated. */
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
  return step === 0 ? `${bits} ${name}` : `${tenths / 10n}.${tenths % 10n} ${name}`;
}
