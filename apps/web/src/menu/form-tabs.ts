/** Tabs of a dialog: those of the menu, and those that a window adds. Pure. */
import type { Row } from '../api/row.ts';
import type { LazyComponent } from '../ui/lazy-component.tsx';

/** Content that a tab shows above its fields, e.g. a graph. A tab that the menu does not have is added for it. */
interface TabExtra {
  readonly content: LazyComponent<{ readonly row: Row }>;
  /** The tab that an added one stands behind; at the end without one. */
  readonly after?: string;
}

export type TabExtras = Readonly<Record<string, TabExtra>>;

/** The tabs with those added that only extras fill. */
export function withExtraTabs(tabs: readonly string[], extras: TabExtras): readonly string[] {
  let all = tabs;
  for (const [tab, { after }] of Object.entries(extras)) {
    if (all.includes(tab)) continue;
    const at = after === undefined ? -1 : all.indexOf(after);
    all = all.toSpliced(at < 0 ? all.length : at + 1, 0, tab);
  }
  return all;
}
