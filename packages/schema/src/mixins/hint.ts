import type { Prop } from '../menu.js';
import { text } from '../props/text.js';

/** Property that names settings of an item without the expected effect. */
export const hint = (help: string, tab: string): { readonly hint: Prop } => ({
  hint: { kind: text({ sentence: true }), label: 'Hint', help, tab, readOnly: true },
});
