/** The quick filter at the right end of the toolbar: a list of the values of one property. */
import type { Menu } from '@tollway/schema';
import type { Condition } from './conditions.ts';

export interface QuickFilter {
  /** Property that the quick filter filters by. */
  readonly name: string;
  readonly label: string;
  /** The entry for no filter. */
  readonly all: string;
  readonly op: Condition['op'];
  /** Whether dynamic and static items are offered as choices, too. */
  readonly origins: boolean;
}

/**
 * Choices for dynamic and static items. They begin with a colon, as no value does, while lists may be named `dynamic`
 * or `static`.
 */
export const ORIGINS: Readonly<Record<string, string>> = { ':dynamic': 'dynamic items', ':static': 'static items' };

/** The quick filter of a menu, if it has one. */
export function quickFilterOf(menu: Menu): QuickFilter | undefined {
  for (const [name, { label, quickFilter }] of Object.entries(menu.props)) {
    if (quickFilter !== undefined) return { name, label, ...quickFilter, origins: menu.props.dynamic !== undefined };
  }
  return undefined;
}

/** Values to offer: the existing ones, and the chosen one, even if it no longer exists. */
export function offeredValues(choice: string, values: readonly string[]): readonly string[] {
  return choice === '' || choice in ORIGINS || values.includes(choice) ? values : [...values, choice];
}

/** Conditions of a choice; none for the empty choice, which means all items. */
export function choiceConditions(quickFilter: QuickFilter | undefined, choice: string): readonly Condition[] {
  if (quickFilter === undefined || choice === '') return [];
  if (choice in ORIGINS) return [{ prop: 'dynamic', op: 'is', value: choice === ':dynamic' ? 'true' : 'false' }];
  return [{ prop: quickFilter.name, op: quickFilter.op, value: choice }];
}
