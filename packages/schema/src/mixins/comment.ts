import type { Prop } from '../menu.js';
import { text } from '../props/text.js';

/** Free text note of an item. */
export const comment = (tab = 'General'): { readonly comment: Prop } => ({
  comment: { kind: text({ max: 4096 }), label: 'Comment', help: 'Free text shown with the item.', tab, unset: true },
});
