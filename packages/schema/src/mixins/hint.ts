import type { Prop } from '../menu.js';
import { text } from '../props/text.js';

/** Property with a hint: a text about settings of an item without the expected effect. */
export const hint = (help: string, tab: string): { readonly hint: Prop } => ({
  hint: { kind: text({ sentence: true }), label: 'Hint', help, tab, readOnly: true },
});
