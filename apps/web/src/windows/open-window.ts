/** Links between windows: their clicks open windows instead of leaving the page. */
import { createContext, type MouseEvent, useContext } from 'react';

/** Opens an address by the address bar, if there is no desktop around. */
function followAddress(address: string): void {
  window.history.pushState(null, '', address);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** Opens the window of an address, e.g. `/ip/firewall/filter`. Provided by the shell. */
export const OpenWindow = createContext<(address: string) => void>(followAddress);

/**
 * Handler for an element with links into the router: a plain click opens a window, other clicks are left to the
 * browser.
 */
export function useLinks(): (event: MouseEvent) => void {
  const open = useContext(OpenWindow);
  return (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[href^="/"]') : null;
    const address = link?.getAttribute('href') ?? '';
    if (address === '' || address === '/') return;
    event.preventDefault();
    open(address);
  };
}
