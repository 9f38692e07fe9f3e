/** The chooser at the right end of the toolbar: one property that splits a menu into parts people look at one by one. */
import type { Menu } from '@tollway/schema';
import type { Condition } from './conditions.ts';

/** Properties that make a chooser, the label it gets, and how a choice is compared. */
const PROPS: Readonly<Record<string, readonly [string, Condition['op']]>> = {
  chain: ['Chain', 'is'],
  list: ['List', 'is'],
  'routing-table': ['Routing Table', 'is'],
  // Several topics stand in one text.
  topics: ['Topics', 'contains'],
};

export interface Chooser {
  /** Property that the chooser filters by. */
  readonly name: string;
  readonly label: string;
  readonly op: Condition['op'];
  /** Also offers what the system made, and what it did not. */
  readonly origins: boolean;
}

/** Choices about who made an item; no value of a property begins like this. */
export const ORIGINS: Readonly<Record<string, string>> = { ':dynamic': 'dynamic', ':static': 'static' };

/** The chooser of a menu, if it has one. */
export function chooserOf(menu: Menu): Chooser | undefined {
  for (const [name, [label, op]] of Object.entries(PROPS)) {
    if (menu.props[name] !== undefined) return { name, label, op, origins: menu.props.dynamic !== undefined };
  }
  return undefined;
}

/** What a choice means; the empty choice means everything. */
export function choiceConditions(chooser: Chooser | undefined, choice: string): readonly Condition[] {
  if (chooser === undefined || choice === '') return [];
  if (choice in ORIGINS) return [{ prop: 'dynamic', op: 'is', value: choice === ':dynamic' ? 'true' : 'false' }];
  return [{ prop: chooser.name, op: chooser.op, value: choice }];
}
