/**
 * Copies a text to the clipboard. The Clipboard API requires a secure context, which the page of a local router often
 * is not; copying from a text field works everywhere. The caller must restore the focus.
 * @returns false when the browser does not permit it, e.g. some seconds after the key that requested it
 */
export function copyText(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.setAttribute('aria-hidden', 'true');
  field.style.cssText = 'position: fixed; inset-block-start: 0; opacity: 0';
  document.body.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  return copied;
}
