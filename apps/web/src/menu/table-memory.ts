/** Query of a table, remembered for each menu until the page is loaded anew. */
import type { Query, TreeShape } from '../api/live-menu.ts';
import type { Condition } from './conditions.ts';

export interface TableMemory {
  /** Rows of the funnel. */
  readonly conditions: readonly Condition[];
  /** Value of the chooser; empty for all. */
  readonly choice: string;
  readonly sort: Query['sort'];
  /** Shown as a tree; null for a list, absent for what is usual for the menu. */
  readonly tree?: TreeShape | null;
}

export const nothingRemembered: TableMemory = { conditions: [], choice: '', sort: null };

const memories = new Map<string, TableMemory>();

/** Query of the table of a menu the last time. */
export function remembered(path: string): TableMemory {
  return memories.get(path) ?? nothingRemembered;
}

export function remember(path: string, memory: TableMemory): void {
  memories.set(path, memory);
}
