/** Query of a table, remembered for each menu until the page is reloaded. */
import type { Query, TreeShape } from '../api/live-menu.ts';
import type { Condition } from './conditions.ts';

export interface RememberedQuery {
  /** Conditions of the filter bar (funnel). */
  readonly conditions: readonly Condition[];
  /** Value of the quick filter; empty for all. */
  readonly choice: string;
  readonly sort: Query['sort'];
  /** The tree; null for a list, absent for the default of the menu. */
  readonly tree?: TreeShape | null;
}

export const nothingRemembered: RememberedQuery = { conditions: [], choice: '', sort: null };

const memories = new Map<string, RememberedQuery>();

/** Last query of the table of a menu. */
export function rememberedQuery(path: string): RememberedQuery {
  return memories.get(path) ?? nothingRemembered;
}

export function rememberQuery(path: string, memory: RememberedQuery): void {
  memories.set(path, memory);
}
