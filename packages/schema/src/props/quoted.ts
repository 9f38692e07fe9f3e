/**
 * A user's text inside an error message: bounded, without control characters, never empty. Marks of direction are
 * invisible, and are replaced by their escapes: a `?` would look like a missing character.
 */
export function quoted(text: string): string {
  if (text === '') return 'an empty value';
  const printable = text
    .slice(0, MAX_CHARACTERS)
    .replace(/\p{Bidi_Control}/gu, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/\p{C}/gu, '?');
  const shortened = text.length > MAX_CHARACTERS ? `${printable}...` : printable;
  // Spaces at an end are a frequent error, and would be invisible without quotation marks.
  return /^\s|\s$/.test(text) ? `"${shortened}"` : shortened;
}

/** Characters of a text that are quoted. */
const MAX_CHARACTERS = 40;

/** Whether a text holds control characters, which would break names, logs and exports, or half a surrogate pair, which is no text. */
export const hasControl = (text: string): boolean => /[\p{Cc}\p{Cs}]/u.test(text);

/** Whether a text holds marks that turn the direction of what follows (UAX #9): a name could look like another one. */
export const hasDirection = (text: string): boolean => /\p{Bidi_Control}/u.test(text);
