import type { Kind } from '../kind.js';
import type { Prop } from '../menu.js';

/** A property that the router reports and that cannot be set. */
export const readOnly = (kind: Kind, label: string, help: string, tab = 'General'): Prop => ({
  kind,
  label,
  help,
  tab,
  readOnly: true,
});
