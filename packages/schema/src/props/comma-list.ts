import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

/**
 * Description of a missing element of a comma list, e.g. `a port is missing after the comma`; undefined when there is
 * an element on both sides of each comma, or no comma.
 * @param element noun for an element, e.g. `a port`
 * @param first noun for the first element, if it is of another kind
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
 * Comma list of at least one word, as an argument of a command; the canonical text has no spaces next to commas.
 * @param element noun for an element, e.g. `a name`
 * @param accepts description of the list, e.g. `names of properties, separated by commas`
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
