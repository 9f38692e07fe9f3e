/** Texts that the browser stores for the page. If storage is forbidden, nothing is stored, and reading returns null. */

/** `localStorage` survives the closing of the browser tab, `sessionStorage` only a reload. */
type Area = 'localStorage' | 'sessionStorage';

/** The text stored under a name; null when there is none. */
export function readStored(name: string, area: Area = 'localStorage'): string | null {
  try {
    return window[area].getItem(`tollway.${name}`);
  } catch {
    return null;
  }
}

/** Stores a text under a name, if storage is allowed and not full. */
export function writeStored(name: string, text: string, area: Area = 'localStorage'): void {
  try {
    window[area].setItem(`tollway.${name}`, text);
  } catch {
    // The change is effective until the page is closed.
  }
}
