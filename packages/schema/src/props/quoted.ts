/**
 * A user's text inside an error message: limited in length, without control characters, never empty. Bidirectional
 * formatting characters are invisible, and are replaced by their escapes, as a `?` would look like a missing character.
 */
export function quoted(text: string): string {
  if (text === '') return 'an empty value';
  const printable = text
    .slice(0, MAX_CHARACTERS)
    .replace(/\p{Bidi_Control}/gu, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/\p{C}/gu, '?');
  const shortened = text.length > MAX_CHARACTERS ? `${printable}...` : printable;
  // Leading and trailing spaces are a frequent error, and would be invisible without quotation marks.
  return /^\s|\s$/.test(text) ? `"${shortened}"` : shortened;
}

/** Maximum number of characters of a text that are quoted. */
const MAX_CHARACTERS = 40;

/**
 * Whether a text contains control characters, which would break names, logs and exports, or unpaired surrogates, which
 * are not valid text.
 */
export const hasControl = (text: string): boolean => /[\p{Cc}\p{Cs}]/u.test(text);

/**
 * Whether a text contains bidirectional formatting characters (UAX #9), which could make a name look like another one.
 */
export const hasDirection = (text: string): boolean => /\p{Bidi_Control}/u.test(text);
