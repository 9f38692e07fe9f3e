/** A user's text inside an error message: bounded, without control characters, never empty. */
export function shown(text: string): string {
  if (text === '') return 'an empty value';
  const printable = text.slice(0, 41).replace(/\p{C}/gu, '?');
  return printable.length > 40 ? `${printable.slice(0, 40)}...` : printable;
}

/** Whether a text holds control characters, which would break names, logs and exports, or half a surrogate pair, which is no text. */
export const hasControl = (text: string): boolean => /[\p{Cc}\p{Cs}]/u.test(text);

/** Whether a text holds marks that turn the direction of what follows (UAX #9): a name could look like another one. */
export const hasDirection = (text: string): boolean => /\p{Bidi_Control}/u.test(text);
