/** Forms with unsaved changes: they are marked in the document by attributes. */

const has = (id: string, mark: string): boolean =>
  document.querySelector(`[data-window="${CSS.escape(id)}"] ${mark}`) !== null;

/** Whether a window has unsaved changes. */
export const isUnsaved = (id: string): boolean => has(id, '[data-unsaved]');

/** Whether all changes in a window are being sent to the router. */
export const isBeingSent = (id: string): boolean => has(id, '[data-sending]') && !has(id, UNSENT);

const UNSENT = '[data-unsaved]:not([data-sending])';

/** Whether there is a form with unsaved changes anywhere, including dialogs above the page. */
export const isAnyUnsaved = (): boolean => document.querySelector('[data-unsaved]') !== null;
