/** Where the keyboard goes in a window. */

/** The first thing to work with in a window. A touch screen would answer a text field with its keyboard. */
export function focusContent(element: HTMLElement, page: boolean): void {
  const body = element.querySelector('.window-body');
  const touch = page || !window.matchMedia('(pointer: fine)').matches;
  const wanted = touch
    ? '[role="grid"]'
    : '[role="grid"], input:enabled, select:enabled, [role="tab"][aria-selected="true"]';
  (body?.querySelector<HTMLElement>(wanted) ?? element).focus({ preventScroll: true });
}
