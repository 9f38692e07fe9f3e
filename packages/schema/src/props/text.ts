import type { Kind } from '../define.js';
import { shown } from './shown.js';

export interface TextOptions {
  /** Longest text, characters. */
  readonly max?: number;
  /** Suggestions. */
  readonly values?: readonly string[];
  /** Where further suggestions come from. */
  readonly ref?: Kind['ref'];
}

/** Control characters would break logs, exports and terminals. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/;

/** Free text. */
export function text({ max = 1024, values, ref }: TextOptions = {}): Kind {
  const accepts = `text of at most ${max} characters`;
  return {
    name: 'string',
    accepts,
    parse(value) {
      if (value.length > max) return { ok: false, error: `${shown(value)} is too long (${accepts})` };
      if (CONTROL.test(value)) return { ok: false, error: `${shown(value)} holds control characters (${accepts})` };
      return { ok: true, value };
    },
    ...(values ? { values } : {}),
    ...(ref ? { ref } : {}),
    jsonSchema: { type: 'string', maxLength: max },
  };
}

/** Name of an item or chain: not empty, no control characters, no leading `!` or `*` (they mean "not" and row ids). */
export function name({ max = 63, values, ref }: TextOptions = {}): Kind {
  const accepts = `a name of 1 to ${max} characters that starts with neither ! nor *`;
  return {
    name: 'name',
    accepts,
    parse(value) {
      if (value === '' || value.trim() !== value || value.length > max || /[\u0000-\u001f\u007f]/.test(value) || /^[!*]/.test(value)) {
        return { ok: false, error: `${shown(value)} is not ${accepts}` };
      }
      return { ok: true, value };
    },
    ...(values ? { values } : {}),
    ...(ref ? { ref } : {}),
    jsonSchema: { type: 'string', minLength: 1, maxLength: max },
  };
}

/** Password: any text. */
export function secret({ min = 8, max = 256 } = {}): Kind {
  const accepts = `a password of ${min} to ${max} characters`;
  return {
    name: 'secret',
    accepts,
    parse: (value) =>
      value.length < min || value.length > max
        ? { ok: false, error: `the text has ${value.length} characters; give ${accepts}` }
        : { ok: true, value },
    jsonSchema: { type: 'string', format: 'password', minLength: min, maxLength: max },
  };
}
