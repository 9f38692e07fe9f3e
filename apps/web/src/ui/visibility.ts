/**
 * Whether a part of the page is visible. A part that is not (in a minimised or covered window, or a background browser
 * tab) closes its live topics, so that it causes no cost here and on the router.
 */
import { createContext, useContext, useSyncExternalStore } from 'react';

/** False inside a window that is minimised or completely covered. */
export const Visibility = createContext(true);

function subscribe(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed);
  return () => document.removeEventListener('visibilitychange', changed);
}

/** Whether the browser tab is in the foreground. */
function usePageVisible(): boolean {
  return useSyncExternalStore(subscribe, () => document.visibilityState !== 'hidden');
}

/** Whether the window around this component, and the browser tab, are visible. */
export function useVisible(): boolean {
  const page = usePageVisible();
  return useContext(Visibility) && page;
}
