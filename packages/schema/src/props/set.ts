import type { Kind } from '../kind.js';
import { missingElement } from './comma-list.js';
import { quoted } from './quoted.js';

interface SetOptions {
  /** The empty text is the empty list. */
  readonly empty?: boolean;
  /** Alternative spellings of words. */
  readonly spelled?: Readonly<Record<string, string>>;
}

const notIn = (word: string, accepts: string): string => `${quoted(word)} is not ${word === '' ? '' : 'in '}${accepts}`;

/** Comma list out of a closed list of words; canonical in the order of the list, each once. */
export function setOf(values: readonly string[], { empty = false, spelled = {} }: SetOptions = {}): Kind {
  const accepts = `a comma list out of ${values.join(', ')}`;
  return {
    name: 'set',
    accepts,
    parse(text) {
      if (empty && text.trim() === '') return { ok: true, value: '' };
      const missing = missingElement(text, 'a word');
      if (missing !== undefined) return { ok: false, error: `${missing}; give ${accepts}` };
      const words = text.split(',').map((part) => {
        const word = part.trim();
        return Object.hasOwn(spelled, word) ? (spelled[word] ?? word) : word;
      });
      const wrong = words.find((word) => !values.includes(word));
      if (wrong !== undefined) return { ok: false, error: notIn(wrong, accepts) };
      return { ok: true, value: values.filter((value) => words.includes(value)).join(',') };
    },
    editor: 'set',
    values,
    jsonSchema: { type: 'string' },
  };
}

/** Comma list of words, each of which is set (`syn`), cleared (`!syn`) or not mentioned. */
export function triStateSetOf(values: readonly string[], { empty = false }: Pick<SetOptions, 'empty'> = {}): Kind {
  const accepts = `a comma list out of ${values.join(', ')}, each with an optional ! for "clear"`;
  return {
    name: 'tri-set',
    accepts,
    parse(text) {
      if (empty && text.trim() === '') return { ok: true, value: '' };
      const missing = missingElement(text, 'a word');
      if (missing !== undefined) return { ok: false, error: `${missing}; give ${accepts}` };
      const words = text.split(',').map((word) => word.trim());
      for (const word of words) {
        const plain = word.replace(/^!/, '');
        if (!values.includes(plain)) return { ok: false, error: notIn(word, accepts) };
        if (words.includes(plain) && words.includes(`!${plain}`)) {
          return { ok: false, error: `${plain} can not be set and clear at once` };
        }
      }
      const canonical = values.flatMap((value) =>
        words.includes(value) ? [value] : words.includes(`!${value}`) ? [`!${value}`] : [],
      );
      return { ok: true, value: canonical.join(',') };
    },
    editor: 'tri-set',
    values,
    jsonSchema: { type: 'string' },
  };
}
