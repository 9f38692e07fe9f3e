/**
 * Puts a text on the clipboard. The clipboard API needs a secure page, which a router in the house often is not; copying
 * out of a field works everywhere. The focus has to be set anew by the caller.
 * @returns false when the browser does not let it, e.g. some seconds after the key that asked for it
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
