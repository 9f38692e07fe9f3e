/** The chooser at the right end of the toolbar: one property that splits a menu into parts people look at one by one. */
import type { Menu } from '@tollway/schema';
import type { Condition } from './conditions.ts';

/** Properties that make a chooser, and the label it gets. */
const PROPS: Readonly<Record<string, string>> = { chain: 'Chain', list: 'List', 'routing-table': 'Routing Table' };

export interface Chooser {
  /** Property that the chooser filters by. */
  readonly name: string;
  readonly label: string;
  /** Also offers what the system made, and what it did not. */
  readonly origins: boolean;
}

/** Choices about who made an item; no value of a property begins like this. */
export const ORIGINS: Readonly<Record<string, string>> = { ':dynamic': 'dynamic', ':static': 'static' };

/** The chooser of a menu, if it has one. */
export function chooserOf(menu: Menu): Chooser | undefined {
  for (const [name, label] of Object.entries(PROPS)) {
    if (menu.props[name] !== undefined) return { name, label, origins: menu.props.dynamic !== undefined };
  }
  return undefined;
}

/** What a choice means; the empty choice means everything. */
export function choiceConditions(chooser: Chooser | undefined, choice: string): readonly Condition[] {
  if (chooser === undefined || choice === '') return [];
  if (choice in ORIGINS) return [{ prop: 'dynamic', op: 'is', value: choice === ':dynamic' ? 'true' : 'false' }];
  return [{ prop: chooser.name, op: 'is', value: choice }];
}
