import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

/** ICMP type and inclusive range of codes. */
interface IcmpOptions {
  readonly type: number;
  readonly codeFrom: number;
  readonly codeTo: number;
}

/** Parses `type`, `type:code` or `type:code-code`; without codes it matches every code. */
export function parseIcmpOptions(text: string): IcmpOptions | undefined {
  const match = /^(\d{1,3})(?::(\d{1,3})(?:-(\d{1,3}))?)?$/.exec(text);
  if (!match) return undefined;
  const type = Number(match[1]);
  const codeFrom = Number(match[2] ?? 0);
  const codeTo = Number(match[3] ?? match[2] ?? 255);
  return type > 255 || codeTo > 255 || codeFrom > codeTo ? undefined : { type, codeFrom, codeTo };
}

const ACCEPTS = 'an ICMP type 0..255, optionally with :code or :code-code';

/** ICMP type and codes; canonical `8:0-255` or `3:4`. */
export const icmpOptions: Kind = {
  name: 'icmp-options',
  accepts: ACCEPTS,
  parse(text) {
    const options = parseIcmpOptions(text);
    if (!options) return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    const { type, codeFrom, codeTo } = options;
    return { ok: true, value: `${type}:${codeFrom === codeTo ? codeFrom : `${codeFrom}-${codeTo}`}` };
  },
  jsonSchema: { type: ['string', 'integer'] },
};
