import type { Kind } from '../kind.js';
import { missingElement } from './comma-list.js';
import { quoted } from './quoted.js';

/** One packet of each group of `every`. */
interface Nth {
  readonly every: number;
  /** Number of the packet, 1 to `every`. */
  readonly packet: number;
}

const MAX_EVERY = 0xffff_ffff;

/** Parses `every,packet`. */
export function parseNth(text: string): Nth | undefined {
  const match = /^(\d{1,10}) ?, ?(\d{1,10})$/.exec(text);
  const every = Number(match?.[1]);
  const packet = Number(match?.[2]);
  return every >= 1 && every <= MAX_EVERY && packet >= 1 && packet <= every ? { every, packet } : undefined;
}

const ACCEPTS = 'every,packet with packet within 1..every, such as 2,1';

/** One packet of each group. */
export const nth: Kind = {
  name: 'nth',
  accepts: ACCEPTS,
  parse(text) {
    const missing = missingElement(text, 'the packet', 'every');
    if (missing !== undefined) return { ok: false, error: `${missing}; give ${ACCEPTS}` };
    const parsed = parseNth(text);
    if (!parsed) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    return { ok: true, value: `${parsed.every},${parsed.packet}` };
  },
  jsonSchema: { type: 'string' },
};
