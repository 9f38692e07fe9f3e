/** Comma separated lists of words, the text form of sets. Pure. */

/** Words of a comma list; none for the empty text. */
export function words(text: string): readonly string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** Adds or removes a word; the result is in the order of `values`. */
export function withWord(text: string, values: readonly string[], word: string, on: boolean): string {
  const now = new Set(words(text));
  if (on) now.add(word);
  else now.delete(word);
  return values.filter((value) => now.has(value)).join(',');
}

/** `on` for `syn`, `not` for `!syn`, else `off`. */
export type Tri = 'off' | 'on' | 'not';

export function triOf(text: string, word: string): Tri {
  const now = words(text);
  if (now.includes(word)) return 'on';
  return now.includes(`!${word}`) ? 'not' : 'off';
}

/** Sets the state of one word; the result is in the order of `values`. */
export function withTri(text: string, values: readonly string[], word: string, state: Tri): string {
  return values
    .map((value) => ({ value, state: value === word ? state : triOf(text, value) }))
    .filter((each) => each.state !== 'off')
    .map((each) => (each.state === 'not' ? `!${each.value}` : each.value))
    .join(',');
}
