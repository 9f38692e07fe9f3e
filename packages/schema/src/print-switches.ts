import type { Menu } from './menu.js';

/** Switches that exporters send to `print` with any value. */
export const VALUED_SWITCHES: readonly string[] = ['stats', 'detail'];

/**
 * Switches that control how a terminal shows items, or that select all of them, which is the behaviour here anyway; and
 * `active`, which exporters send to every menu.
 */
const SWITCHES = ['active', 'all', 'as-value', 'brief', 'show-ids', 'terse', 'value-list', 'without-paging'];

/**
 * Switches of `print` that have no effect. A switch with the name of a property is not among them, as it would select
 * items.
 */
export const printSwitches = ({ props }: Menu): readonly string[] =>
  SWITCHES.filter((name) => !Object.hasOwn(props, name));

/** Values of switches. */
export const SWITCH_VALUES: readonly (string | boolean)[] = ['', true, false, 'true', 'false', 'yes', 'no'];
