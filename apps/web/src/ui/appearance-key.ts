import { useSyncExternalStore } from 'react';

const dark = typeof window === 'undefined' ? undefined : window.matchMedia('(prefers-color-scheme: dark)');

function subscribe(changed: () => void): () => void {
  dark?.addEventListener('change', changed);
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    dark?.removeEventListener('change', changed);
    observer.disconnect();
  };
}

/** A text that changes whenever colours change, for code that paints with colours instead of styling with them. */
export function useAppearanceKey(): string {
  return useSyncExternalStore(
    subscribe,
    () => `${document.documentElement.dataset.theme ?? 'system'} ${dark?.matches === true ? 'dark' : 'light'}`,
  );
}
