/** Which tab of an item's dialog was open, until the browser tab is closed: a reload shows it again. */

const KEY = 'tollway.item-tabs';
/** Items that are remembered at most; the oldest are forgotten. */
const MAX_TABS = 50;

type Tabs = readonly (readonly [place: string, tab: string])[];

/** @param text what is stored; anything else than pairs of texts is nothing */
export function readTabs(text: string | null): Tabs {
  try {
    const stored: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(stored)) return [];
    return stored.flatMap((pair: unknown): Tabs => {
      const [place, tab]: readonly unknown[] = Array.isArray(pair) ? pair : [];
      return typeof place === 'string' && typeof tab === 'string' ? [[place, tab]] : [];
    });
  } catch {
    return [];
  }
}

/** The list with the tab of a place as its newest. */
export function withTab(tabs: Tabs, place: string, tab: string): Tabs {
  return [...tabs.filter(([each]) => each !== place), [place, tab] as const].slice(-MAX_TABS);
}

function stored(): Tabs {
  try {
    return readTabs(window.sessionStorage.getItem(KEY));
  } catch {
    // Storage may be forbidden; then nothing is remembered.
    return [];
  }
}

export function lastTab(place: string): string | undefined {
  return stored().find(([each]) => each === place)?.[1];
}

export function noteTab(place: string, tab: string): void {
  try {
    window.sessionStorage.setItem(KEY, JSON.stringify(withTab(stored(), place, tab)));
  } catch {
    // As above.
  }
}
