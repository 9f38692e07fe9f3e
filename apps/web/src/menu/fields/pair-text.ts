type Halves = readonly [string | undefined, string | undefined];

/** The halves of `first/second`; one value stands for both. */
export function halvesOf(value: string | undefined): Halves {
  if (value === undefined) return [undefined, undefined];
  const slash = value.indexOf('/');
  return slash < 0 ? [value, value] : [value.slice(0, slash), value.slice(slash + 1)];
}

/**
 * Pair after one half's field has got `text`. A pair that is pasted into either field fills both, and the slash
 * that somebody types after the first half only leads to the second.
 */
export function pairWith(
  text: string,
  at: number,
  [first = '', second = '']: Halves,
): { value: string; next: boolean } {
  const slash = text.indexOf('/');
  if (slash < 0) return { value: at === 0 ? `${text}/${second}` : `${first}/${text}`, next: false };
  const before = text.slice(0, slash);
  const after = text.slice(slash + 1).replaceAll('/', '');
  if (before !== '' && after !== '') return { value: `${before}/${after}`, next: at === 0 };
  return at === 0
    ? { value: `${before}${after}/${second}`, next: true }
    : { value: `${first}/${before}${after}`, next: false };
}
