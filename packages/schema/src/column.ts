import type { Kind } from './kind.js';
import type { Menu, Prop } from './menu.js';
import { propOf } from './menu.js';

/** A column of a table: a property, or one half of a pair. */
export interface MenuColumn {
  /** `max-limit` or `max-limit.upload`. */
  readonly name: string;
  /** Name of the property. */
  readonly property: string;
  readonly prop: Prop;
  /** 0 or 1 for half of a pair. */
  readonly half: 0 | 1 | undefined;
  /** `Max Limit`, `Upload Max Limit`. */
  readonly label: string;
  /** Kind of the cell's value. */
  readonly kind: Kind;
}

/** The column of a name; `undefined` when the menu has no such property or half. */
export function menuColumn(menu: Pick<Menu, 'props'>, name: string): MenuColumn | undefined {
  const dot = name.indexOf('.', 1);
  const property = dot < 0 ? name : name.slice(0, dot);
  const prop = propOf(menu, property);
  if (prop === undefined) return undefined;
  if (dot < 0) return { name, property, prop, half: undefined, label: prop.label, kind: prop.kind };
  const { pair } = prop.kind;
  const at = pair?.names.indexOf(name.slice(dot + 1));
  if (pair === undefined || (at !== 0 && at !== 1)) return undefined;
  return { name, property, prop, half: at, label: `${pair.labels[at]} ${prop.label}`, kind: pair.of };
}

/** The text of a cell, derived from the text of the property: for half of a pair, that half. */
export function columnValue({ half }: MenuColumn, value: string | undefined): string | undefined {
  if (half === undefined || value === undefined) return value;
  const slash = value.indexOf('/');
  if (slash < 0) return value;
  return half === 0 ? value.slice(0, slash) : value.slice(slash + 1);
}
