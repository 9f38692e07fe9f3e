import type { Flag, Prop } from '../menu.js';
import { bool } from '../props/bool.js';

/** Read-only property of menus with built-in items that can be changed. */
export const defaultItem = (tab = 'General'): { readonly default: Prop } => ({
  default: {
    kind: bool,
    label: 'Default',
    help: 'Always present: it can be set, but neither removed nor renamed.',
    tab,
    readOnly: true,
  },
});

export const defaultFlag: Flag = { letter: '*', prop: 'default', title: 'default' };
