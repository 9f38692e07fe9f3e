import { menuByPath } from '@tollway/schema';
import type { ConfigSnapshot, Row } from '../snapshot/snapshot.js';
import { rowsOf } from '../snapshot/snapshot.js';
import { CannotWork } from './cannot-work.js';
import { InterfaceNames } from './interface-names.js';
import { Marks } from './marks.js';

/** What the parts of the compiler share while one snapshot is translated. */
export class CompileContext {
  readonly snapshot: ConfigSnapshot;
  readonly interfaces: InterfaceNames;
  readonly invalid = new Map<number, string>();
  readonly marks = new Marks();

  /** Asked for by {@link clockOffset}, so that it is known who depends on it. */
  readonly utcOffsetS: number;
  /** A rule asks for the time of day. */
  asksTime = false;

  constructor(snapshot: ConfigSnapshot, utcOffsetS: number) {
    this.snapshot = snapshot;
    this.utcOffsetS = utcOffsetS;
    this.interfaces = InterfaceNames.of(snapshot);
  }

  readonly #parts = new Map<unknown, unknown>();

  /** What several menus need, translated once. */
  once<T>(translate: (context: CompileContext) => T): T {
    if (!this.#parts.has(translate)) this.#parts.set(translate, translate(this));
    // Under each function stands what it has returned.
    return this.#parts.get(translate) as T;
  }

  /** Offset of the router's clock from UTC, seconds. */
  clockOffset(): number {
    this.asksTime = true;
    return this.utcOffsetS;
  }

  /** Rows of a menu that are switched on, in order. */
  enabled(menu: string): readonly Row[] {
    return rowsOf(this.snapshot, menu).filter((row) => !row.disabled);
  }

  /** Translates the enabled rows of a menu; one that cannot work is noted with its reason and left out. */
  translate<T>(menu: string, one: (row: Row) => T): T[] {
    return this.enabled(menu).flatMap((row) => this.attempt(row, () => [one(row)]) ?? []);
  }

  /** Runs a part of the translation of a row; undefined, with the reason noted, when the row cannot work. */
  attempt<T>(row: Row, run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof CannotWork)) throw error;
      if (!this.invalid.has(row.id)) this.invalid.set(row.id, error.message);
      return undefined;
    }
  }
}

/**
 * Value of a property in force: what the row holds, or the default of the menu.
 *
 * @throws Error when the menu has no such property: a slip in the compiler, not in the configuration.
 */
export function effective(menu: string, row: Row | undefined, property: string): string | undefined {
  const prop = menuByPath(menu)?.props[property];
  if (!prop) throw new Error(`${menu} has no property ${property}`);
  return row?.values[property] ?? prop.default;
}

/** As {@link effective}, for properties that a row cannot do without. */
export function needed(menu: string, row: Row, property: string): string {
  const value = effective(menu, row, property);
  if (value === undefined || value === '') throw new CannotWork(`${property} is not set`);
  return value;
}
