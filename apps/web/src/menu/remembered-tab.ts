/** The open tab of each item's dialog, remembered until the browser tab is closed, so that a reload shows it again. */
import { readStored, writeStored } from '../ui/browser-storage.ts';

const STORED_TABS = 'item-tabs';
/** Maximum number of items whose tabs are remembered; the oldest are removed. */
const MAX_TABS = 50;

type Tabs = readonly (readonly [place: string, tab: string])[];

/** @param text the stored text; invalid content counts as empty */
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

/** The list with the tab of a place appended as the newest. */
export function withTab(tabs: Tabs, place: string, tab: string): Tabs {
  return [...tabs.filter(([each]) => each !== place), [place, tab] as const].slice(-MAX_TABS);
}

const storedTabs = (): Tabs => readTabs(readStored(STORED_TABS, 'sessionStorage'));

/** The tab that was last open in the dialog of an item. */
export function rememberedTab(place: string): string | undefined {
  return storedTabs().find(([each]) => each === place)?.[1];
}

/** Stores the open tab in the dialog of an item. */
export function rememberTab(place: string, tab: string): void {
  writeStored(STORED_TABS, JSON.stringify(withTab(storedTabs(), place, tab)), 'sessionStorage');
}
