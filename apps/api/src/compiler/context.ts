import { menuByPath } from '@tollway/schema';
import type { ConfigSnapshot, Row } from '../snapshot/snapshot.js';
import { rowsOf } from '../snapshot/snapshot.js';
import { InterfaceNames } from './interface-names.js';
import { InvalidRow } from './invalid-row.js';
import { Marks } from './marks.js';
import { TableNames } from './table-names.js';

/** State shared by the compilers of all menus during one translation. */
export class CompileContext {
  readonly snapshot: ConfigSnapshot;
  readonly interfaces: InterfaceNames;
  readonly tables: TableNames;
  readonly invalid = new Map<number, string>();
  readonly marks = new Marks();

  /** Read by {@link clockOffset}, which records the dependency. */
  readonly utcOffsetS: number;
  /** Whether the result depends on the time of day. */
  dependsOnTime = false;

  constructor(snapshot: ConfigSnapshot, utcOffsetS: number) {
    this.snapshot = snapshot;
    this.utcOffsetS = utcOffsetS;
    this.interfaces = InterfaceNames.of(snapshot);
    this.tables = TableNames.of(snapshot);
  }

  readonly #parts = new Map<unknown, unknown>();

  /** Memoises a translation that several menus need. */
  once<T>(translate: (context: CompileContext) => T): T {
    if (!this.#parts.has(translate)) this.#parts.set(translate, translate(this));
    // The map holds for each function its own result.
    return this.#parts.get(translate) as T;
  }

  /** Offset of the router's clock from UTC, seconds. */
  clockOffset(): number {
    this.dependsOnTime = true;
    return this.utcOffsetS;
  }

  /** Enabled rows of a menu, in order. */
  enabled(menu: string): readonly Row[] {
    return rowsOf(this.snapshot, menu).filter((row) => !row.disabled);
  }

  /** Translates the enabled rows of a menu; invalid ones are recorded with their reason and left out. */
  translate<T>(menu: string, one: (row: Row) => T): T[] {
    return this.enabled(menu).flatMap((row) => this.orInvalid(row, () => [one(row)]) ?? []);
  }

  /** Runs a part of a row's translation; undefined, with the reason recorded, when the row is invalid. */
  orInvalid<T>(row: Row, run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof InvalidRow)) throw error;
      if (!this.invalid.has(row.id)) this.invalid.set(row.id, error.message);
      return undefined;
    }
  }
}

/**
 * Effective value of a property: that of the row, or the default of the menu.
 *
 * @throws Error when the menu has no such property: a bug of the compiler.
 */
export function effective(menu: string, row: Row | undefined, property: string): string | undefined {
  const prop = menuByPath(menu)?.props[property];
  if (!prop) throw new Error(`${menu} has no property ${property}`);
  return row?.values[property] ?? prop.default;
}

/** Effective value of a required property. */
export function requiredValue(menu: string, row: Row, property: string): string {
  const value = effective(menu, row, property);
  if (value === undefined || value === '') throw new InvalidRow(`${property} is not set`);
  return value;
}
