/**
 * Whether somebody can see this part of the page. What is out of sight (a minimised or covered window, a browser tab in
 * the background) closes its live topics, so that it costs nothing here and on the router.
 */
import { createContext, useContext, useSyncExternalStore } from 'react';

/** False inside a window that is minimised or wholly covered. */
export const Visibility = createContext(true);

function subscribe(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed);
  return () => document.removeEventListener('visibilitychange', changed);
}

/** True while the browser tab is in front. */
function usePageVisible(): boolean {
  return useSyncExternalStore(subscribe, () => document.visibilityState !== 'hidden');
}

/** True while the window around this component, and the browser tab, can be seen. */
export function useVisible(): boolean {
  const page = usePageVisible();
  return useContext(Visibility) && page;
}
