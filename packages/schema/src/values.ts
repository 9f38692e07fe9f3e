/** Texts and order of canonical values. */
import type { Kind } from './kind.js';
import type { Prop } from './menu.js';

/** Text for people of a canonical value. */
export const displayValue = (prop: Prop, value: string): string => prop.kind.display?.(value) ?? value;

/** Initial text of a field for a canonical value. */
export const editValue = (kind: Kind, value: string): string => kind.edit?.(value) ?? value;

/** Order of two texts by their UTF-16 code units. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Typed order of two canonical values of a kind. */
export const compareValues = ({ compare = compareTexts }: Pick<Kind, 'compare'>, a: string, b: string): number =>
  compare(a, b);
