/** Keyboard focus in a window. */

// Excludes the panels of hidden tabs.
const LIST = '[role="grid"][tabindex]:not([hidden] *)';
const FIELD = ':is(input, select):enabled:not([hidden] *)';
const TAB = '[role="tab"][aria-selected="true"]';

/**
 * Focuses the first control of a window. On a touch screen text fields are skipped, as they would open the keyboard.
 */
export function focusContent(element: HTMLElement, page: boolean): void {
  const body = element.querySelector('.window-body');
  const touch = page || window.matchMedia('(pointer: coarse)').matches;
  const wanted = (touch ? [LIST] : [LIST, FIELD, TAB])
    .map((selector) => body?.querySelector<HTMLElement>(selector))
    .find((found) => found !== null && found !== undefined);
  wanted?.focus({ preventScroll: true });
  // Otherwise keys would reach another window.
  if (!element.contains(document.activeElement)) element.focus({ preventScroll: true });
  // As by Tab: typed text replaces the proposed one.
  if (wanted instanceof HTMLInputElement) wanted.select();
}
