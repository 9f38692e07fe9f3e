import type { Prop } from '../menu.js';
import { text } from '../props/text.js';

/** Property that tells what of an item does not do what it seems to. */
export const hint = (help: string, tab: string): { readonly hint: Prop } => ({
  hint: { kind: text({ sentence: true }), label: 'Hint', help, tab, readOnly: true },
});
