/** Screens that are too narrow for a desktop show one window at a time. The style sheets use the same limit. */
import { useSyncExternalStore } from 'react';

const query = typeof window === 'undefined' ? undefined : window.matchMedia('(max-width: 720px)');

export function isNarrow(): boolean {
  return query?.matches === true;
}

function subscribe(changed: () => void): () => void {
  query?.addEventListener('change', changed);
  return () => query?.removeEventListener('change', changed);
}

export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, isNarrow);
}
