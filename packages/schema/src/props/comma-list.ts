import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

/**
 * Element that a comma list lacks, in words, e.g. `a port is missing after the comma`; undefined when something stands on both
 * sides of each comma. For a text without commas there is no place to name.
 * @param element what stands between two commas, e.g. `a port`
 * @param first what stands before the first one, where that is something else
 */
export function missingElement(text: string, element: string, first = element): string | undefined {
  const parts = text.split(',');
  const at = parts.findIndex((part) => part.trim() === '');
  if (at < 0 || parts.length === 1) return undefined;
  const comma = (which: string) => (parts.length === 2 ? 'the comma' : `the ${which} comma`);
  if (at === 0) return `${first} is missing before ${comma('first')}`;
  if (at === parts.length - 1) return `${element} is missing after ${comma('last')}`;
  return `${element} is missing between two commas`;
}

/** Names in a comma list; the empty text is the empty list. */
export const namesInList = (value: string): readonly string[] => (value === '' ? [] : value.split(','));

/** {@link Kind.rename} of a value that is a name. */
export const renameOne = (value: string, from: string, to: string): string => (value === from ? to : value);

/** {@link Kind.rename} of a comma list of names. */
export const renameInList = (value: string, from: string, to: string): string =>
  value
    .split(',')
    .map((name) => renameOne(name, from, to))
    .join(',');

/**
 * Comma list of at least one word, as an argument of a command; canonical without spaces beside the commas.
 * @param element what stands between two commas, e.g. `a name`
 * @param accepts the list in words, e.g. `names of properties, separated by commas`
 */
export const wordList = (element: string, accepts: string): Kind => ({
  name: 'words',
  accepts,
  parse(text) {
    if (text.trim() === '') return { ok: false, error: `${quoted(text)} is not ${accepts}` };
    const missing = missingElement(text, element);
    if (missing !== undefined) return { ok: false, error: `${missing}; give ${accepts}` };
    const words = text.split(',').map((word) => word.trim());
    return { ok: true, value: words.join(',') };
  },
  jsonSchema: { type: ['string', 'array'], minLength: 1, items: { type: 'string' } },
});
