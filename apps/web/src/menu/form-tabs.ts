/** Tabs of a dialog: tabs of the menu, and tabs that a window adds. Pure. */
import type { Row } from '../api/row.ts';
import type { LazyComponent } from '../ui/lazy-component.tsx';

/** Content that a tab shows above its fields, e.g. a graph. If the menu has no such tab, the tab is added. */
interface TabExtra {
  readonly content: LazyComponent<{ readonly row: Row }>;
  /** The tab after which an added tab is inserted; by default it is appended. */
  readonly after?: string;
}

export type TabExtras = Readonly<Record<string, TabExtra>>;

/** The tabs, including those that consist of extra content only. */
export function withExtraTabs(tabs: readonly string[], extras: TabExtras): readonly string[] {
  let all = tabs;
  for (const [tab, { after }] of Object.entries(extras)) {
    if (all.includes(tab)) continue;
    const at = after === undefined ? -1 : all.indexOf(after);
    all = all.toSpliced(at < 0 ? all.length : at + 1, 0, tab);
  }
  return all;
}
