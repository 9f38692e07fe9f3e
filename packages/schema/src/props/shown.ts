/** A user's text inside an error message: bounded, without control characters, never empty. */
export function shown(text: string): string {
  if (text === '') return 'an empty value';
  const printable = text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, '?');
  return printable.length > 40 ? `${printable.slice(0, 40)}...` : printable;
}
