/** The chooser at the right end of the toolbar: one property that splits a menu into parts people look at one by one. */
import type { Menu } from '@tollway/schema';

/** Properties that make a chooser, and the label it gets. */
const PROPS: Readonly<Record<string, string>> = { chain: 'Chain', list: 'List', 'routing-table': 'Routing Table' };

/** Name and label of the property that the chooser filters by. */
export function chooserProp(menu: Menu): { readonly name: string; readonly label: string } | undefined {
  for (const [name, label] of Object.entries(PROPS)) if (menu.props[name] !== undefined) return { name, label };
  return undefined;
}
