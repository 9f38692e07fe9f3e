/** Focus of the keyboard in a window. */

// The panels of other tabs are there, too.
const LIST = '[role="grid"][tabindex]:not([hidden] *)';
const FIELD = ':is(input, select):enabled:not([hidden] *)';
const TAB = '[role="tab"][aria-selected="true"]';

/** The first thing to work with in a window. A touch screen would answer a text field with its keyboard. */
export function focusContent(element: HTMLElement, page: boolean): void {
  const body = element.querySelector('.window-body');
  const touch = page || window.matchMedia('(pointer: coarse)').matches;
  const wanted = (touch ? [LIST] : [LIST, FIELD, TAB])
    .map((selector) => body?.querySelector<HTMLElement>(selector))
    .find((found) => found !== null && found !== undefined);
  wanted?.focus({ preventScroll: true });
  // In any case keys mean this window, and none behind it.
  if (!element.contains(document.activeElement)) element.focus({ preventScroll: true });
  // As by Tab: what is typed takes the place of what is proposed.
  if (wanted instanceof HTMLInputElement) wanted.select();
}
