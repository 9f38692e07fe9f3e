import type { Flag, Prop } from '../menu.js';
import { bool } from '../props/bool.js';

/** Switch of an item. */
export const disabled = (tab = 'General'): { readonly disabled: Prop } => ({
  disabled: {
    kind: bool,
    label: 'Disabled',
    help: 'The item is kept but has no effect.',
    tab,
    default: 'false',
    dataplane: true,
  },
});

export const disabledFlag: Flag = { letter: 'X', prop: 'disabled', title: 'disabled' };

/** Items that the system makes by itself. */
export const dynamic = (tab = 'Status'): { readonly dynamic: Prop } => ({
  dynamic: {
    kind: bool,
    label: 'Dynamic',
    help: 'Made by the system; not stored and not changeable.',
    tab,
    readOnly: true,
  },
});

export const dynamicFlag: Flag = { letter: 'D', prop: 'dynamic', title: 'dynamic' };

/** Items that are stored but cannot work as they stand. */
export const invalid = (tab = 'Status'): { readonly invalid: Prop } => ({
  invalid: {
    kind: bool,
    label: 'Invalid',
    help: 'The item has an error and is skipped; the reason is shown with it.',
    tab,
    readOnly: true,
  },
});

export const invalidFlag: Flag = { letter: 'I', prop: 'invalid', title: 'invalid' };
