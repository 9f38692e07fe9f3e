/** Texts that the browser stores for the page. Where storage is forbidden, nothing is stored and reading gives null. */

/** `localStorage` outlives the browser tab, `sessionStorage` outlives a reload. */
type Area = 'localStorage' | 'sessionStorage';

/** The text stored under a name; null when there is none. */
export function readStored(name: string, area: Area = 'localStorage'): string | null {
  try {
    return window[area].getItem(`tollway.${name}`);
  } catch {
    return null;
  }
}

/** Stores a text under a name, where storage is allowed and not full. */
export function writeStored(name: string, text: string, area: Area = 'localStorage'): void {
  try {
    window[area].setItem(`tollway.${name}`, text);
  } catch {
    // The change holds until the page is closed.
  }
}
