type Halves = readonly [string | undefined, string | undefined];

/** The halves of `first/second`; a single value is used for both. */
export function halvesOf(value: string | undefined): Halves {
  if (value === undefined) return [undefined, undefined];
  const slash = value.indexOf('/');
  return slash < 0 ? [value, value] : [value.slice(0, slash), value.slice(slash + 1)];
}

/**
 * The pair after the field of one half was set to `text`. A pair that is pasted into either field fills both. A slash
 * that is typed after the first half moves the focus to the second.
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
