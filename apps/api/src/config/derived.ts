import type { Derived, Menu } from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';

const known = new WeakMap<Menu, readonly (readonly [string, Derived])[]>();

/** Derived properties of a menu; computed once. */
export function derivedOf(menu: Menu): readonly (readonly [string, Derived])[] {
  let derived = known.get(menu);
  if (derived === undefined) {
    derived = Object.entries(menu.props).flatMap(([name, prop]) =>
      prop.derived === undefined ? [] : [[name, prop.derived] as const],
    );
    known.set(menu, derived);
  }
  return derived;
}

/** Derived properties of a row with their values: the stored value, or else the derived one. */
export function derivedValues(menu: Menu, { values }: Pick<Row, 'values'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    derivedOf(menu).flatMap(([name, { value }]) => {
      const text = values[name] ?? value(values);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}
