import type { Menu } from './menu.js';

/** Switches that exporters send to `print` with any value. */
export const VALUED_SWITCHES: readonly string[] = ['stats', 'detail'];

/**
 * Switches that say how a terminal shows items, or to show all of them, as is done here anyway; and `active`, which
 * exporters send to every menu.
 */
const SWITCHES = ['active', 'all', 'as-value', 'brief', 'show-ids', 'terse', 'value-list', 'without-paging'];

/** Switches of `print` that change nothing. One that is also a property would choose items, and is none of them. */
export const printSwitches = ({ props }: Menu): readonly string[] =>
  SWITCHES.filter((name) => !Object.hasOwn(props, name));

/** Values of switches. */
export const SWITCH_VALUES: readonly (string | boolean)[] = ['', true, false, 'true', 'false', 'yes', 'no'];
