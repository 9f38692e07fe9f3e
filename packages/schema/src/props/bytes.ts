import type { Kind } from '../kind.js';
import { compareNumbers } from './int.js';
import { quoted } from './quoted.js';

const UNITS: Readonly<Record<string, bigint>> = {
  '': 1n,
  B: 1n,
  KIB: 1n << 10n,
  K: 1n << 10n,
  MIB: 1n << 20n,
  M: 1n << 20n,
  GIB: 1n << 30n,
  G: 1n << 30n,
  TIB: 1n << 40n,
};
const NAMES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const ACCEPTS = 'a number of bytes, optionally with KiB, MiB or GiB';

/** Amount of data; the canonical text is plain bytes. Suffixes are binary. */
export const bytes: Kind = {
  name: 'bytes',
  accepts: ACCEPTS,
  parse(text) {
    const match = /^(\d{1,20}) ?([A-Za-z]*)$/.exec(text);
    const key = match?.[2]?.toUpperCase() ?? '?';
    const unit = Object.hasOwn(UNITS, key) ? UNITS[key] : undefined;
    const value = match?.[1] !== undefined && unit !== undefined ? BigInt(match[1]) * unit : undefined;
    if (value === undefined || value > 0xffff_ffff_ffff_ffffn) {
      return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    }
    return { ok: true, value: value.toString() };
  },
  display: displayBytes,
  compare: compareNumbers,
  unit: 'bytes',
  align: 'right',
  filterType: 'amount',
  widest: '1023.9 MiB',
  jsonSchema: { type: ['string', 'integer'] },
};

/** Amount of data up to a bound, bytes. */
export function bytesUpTo(most: number): Kind {
  const accepts = `${ACCEPTS}, up to ${most}`;
  return {
    ...bytes,
    accepts,
    parse(text) {
      const result = bytes.parse(text);
      return !result.ok || Number(result.value) <= most ? result : { ok: false, error: `${text} is not ${accepts}` };
    },
  };
}

/** `240.2 MiB`, one decimal, truncated. */
export function displayBytes(value: string): string {
  if (!/^\d+$/.test(value)) return value;
  let rest = BigInt(value) * 10n;
  let step = 0;
  while (rest >= 10240n && step < NAMES.length - 1) {
    rest /= 1024n;
    step += 1;
  }
  const name = NAMES[step] ?? 'B';
  return step === 0 ? `${rest / 10n} B` : `${rest / 10n}.${rest % 10n} ${name}`;
}
