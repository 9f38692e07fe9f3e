/** What this browser remembers for the page. One that forbids storage remembers as long as the page is open. */

/** The text under a name; null when there is none. */
export function readStored(name: string): string | null {
  try {
    return window.localStorage.getItem(`tollway.${name}`);
  } catch {
    return null;
  }
}

export function writeStored(name: string, text: string): void {
  try {
    window.localStorage.setItem(`tollway.${name}`, text);
  } catch {
    // Nothing to do: what was changed holds until the page is closed.
  }
}
