import type { Kind, Parsed } from '../kind.js';
import { quoted } from './quoted.js';

const WORDS: Readonly<Record<string, string>> = { yes: 'true', true: 'true', no: 'false', false: 'false' };
const ACCEPTS = 'yes or no';

function parse(text: string): Parsed {
  const value = Object.hasOwn(WORDS, text) ? WORDS[text] : undefined;
  return value ? { ok: true, value } : { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
}

/** `true` / `false`; also understands `yes` / `no`. */
export const bool: Kind = {
  name: 'bool',
  accepts: ACCEPTS,
  parse,
  display: (value) => (value === 'true' ? 'yes' : 'no'),
  compare: (a, b) => Number(a === 'true') - Number(b === 'true'),
  filterType: 'flag',
  valueWhenUnset: 'false',
  editor: 'check',
  closedSet: true,
  values: ['true', 'false'],
  jsonSchema: { type: ['string', 'boolean'], enum: ['true', 'false', 'yes', 'no', true, false] },
};

/** An argument whose presence means yes (`blackhole`), even with an empty value. */
export const present: Kind = {
  ...bool,
  parse: (text) => parse(text === '' ? 'true' : text),
};

/** A switch of a command: every value other than `false` and `no` turns it on, as in RouterOS. */
export const switchKind: Kind = {
  ...bool,
  accepts: 'any value; false and no turn it off',
  parse: (text) => ({ ok: true, value: text === 'false' || text === 'no' ? 'false' : 'true' }),
  jsonSchema: { type: ['string', 'boolean'] },
};
