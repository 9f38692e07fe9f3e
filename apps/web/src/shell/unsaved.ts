/** Forms with changes that are not stored: they say so in the page. */

/** Whether what was changed in a window is not stored. */
export const isUnsaved = (id: string): boolean =>
  document.querySelector(`[data-window="${CSS.escape(id)}"] [data-unsaved]`) !== null;

/** Whether there is such a form anywhere, also in a dialog over the page. */
export const isAnyUnsaved = (): boolean => document.querySelector('[data-unsaved]') !== null;
