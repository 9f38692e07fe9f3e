/** Forms with changes that are not stored: they say so in the page. */

const has = (id: string, mark: string): boolean =>
  document.querySelector(`[data-window="${CSS.escape(id)}"] ${mark}`) !== null;

/** Whether what was changed in a window is not stored. */
export const isUnsaved = (id: string): boolean => has(id, '[data-unsaved]');

/** Whether all that was changed in a window is on its way to the router. */
export const isBeingSent = (id: string): boolean => has(id, '[data-sending]') && !has(id, UNSENT);

const UNSENT = '[data-unsaved]:not([data-sending])';

/** Whether there is such a form anywhere, also in a dialog over the page. */
export const isAnyUnsaved = (): boolean => document.querySelector('[data-unsaved]') !== null;
