import type { Kind } from '../kind.js';
import { regexProblem } from '../posix-regex/regex.js';
import { hasControl, hasDirection, shown } from './shown.js';

/** Longest expression, characters. */
const MAX_LENGTH = 255;
const ACCEPTS = `an extended regular expression of POSIX of at most ${MAX_LENGTH} characters`;

/** Extended regular expression of POSIX.1-2017 §9.4. */
export const posixRegex: Kind = {
  name: 'regex',
  accepts: ACCEPTS,
  parse(text) {
    if (text === '' || text.length > MAX_LENGTH || hasControl(text) || hasDirection(text)) {
      return { ok: false, error: `${shown(text)} is not ${ACCEPTS}` };
    }
    const problem = regexProblem(text);
    return problem === undefined
      ? { ok: true, value: text }
      : { ok: false, error: `${shown(text)} is no regular expression: ${problem}` };
  },
  jsonSchema: { type: 'string', minLength: 1, maxLength: MAX_LENGTH, description: ACCEPTS },
};
