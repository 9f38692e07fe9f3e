import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

/** One word of a closed list. */
export function oneOf(values: readonly string[]): Kind {
  const accepts = `one of ${values.join(', ')}`;
  return {
    name: 'enum',
    accepts,
    parse: (text) =>
      values.includes(text) ? { ok: true, value: text } : { ok: false, error: `${quoted(text)} is not ${accepts}` },
    editor: 'select',
    values,
    jsonSchema: { type: 'string', enum: values },
  };
}

/** `yes`/`no` among other words, if REST keeps these words instead of `true`/`false` (`rp-filter`). */
export function oneOfWithYesNo(values: readonly string[]): Kind {
  const base = oneOf(values);
  return {
    ...base,
    parse: (text) => base.parse(text === 'true' ? 'yes' : text === 'false' ? 'no' : text),
  };
}
