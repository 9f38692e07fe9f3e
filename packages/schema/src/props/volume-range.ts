import type { Kind } from '../kind.js';
import { bytes } from './bytes.js';
import { quoted } from './quoted.js';

/** Amount of data, bytes; `to` 0 means no upper limit. */
interface VolumeRange {
  readonly from: number;
  readonly to: number;
}

/** Parses `from-to`, each optionally with KiB, MiB or GiB. */
export function parseVolumeRange(text: string): VolumeRange | undefined {
  const halves = text.split('-').map((half) => bytes.parse(half.trim()));
  const [first, second] = halves;
  if (halves.length !== 2 || !first?.ok || !second?.ok) return undefined;
  const [from, to] = [Number(first.value), Number(second.value)];
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && (to === 0 || to >= from) ? { from, to } : undefined;
}

const ACCEPTS = 'from-to in bytes, optionally with KiB, MiB or GiB, such as 500000-0; 0 at the end has no upper bound';

/** Range of amounts of data; canonical in plain bytes. */
export const volumeRange: Kind = {
  name: 'volume-range',
  accepts: ACCEPTS,
  parse(text) {
    const range = parseVolumeRange(text);
    if (!range) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    return { ok: true, value: `${range.from}-${range.to}` };
  },
  jsonSchema: { type: 'string' },
};
