import type { Menu } from '@tollway/schema';
import { parseRowId, type Row, rowIdText } from '../snapshot/snapshot.js';
import type { RestRow, RowSet } from './rows.js';
import { storedRow } from './stored.js';

/** Values of stored rows that change by themselves. */
export interface LiveValues {
  readonly properties: readonly string[];
  /** Text of one of the properties for the row with this id. */
  value(id: number, property: string): string | undefined;
  /** Number in the order of a column's values, by row id, if it is known without texts. */
  sortNumbers?(column: string): ((id: number) => number) | undefined;
}

/** The stored part of rows as REST sends it. A row that no commit changed is built once. */
export class StoredParts {
  readonly #menu: Menu;
  readonly #parts = new WeakMap<Row, { readonly reason?: string; readonly hint?: string; readonly part: RestRow }>();

  constructor(menu: Menu) {
    this.#menu = menu;
  }

  /**
   * @param reason reason why the row is invalid, if it is.
   * @param hint text about an effect that the row lacks although its settings suggest it.
   */
  of(row: Row, reason: string | undefined, hint?: string): RestRow {
    const known = this.#parts.get(row);
    if (known !== undefined && known.reason === reason && known.hint === hint) return known.part;
    const stored = storedRow(this.#menu, row, reason);
    const part = hint === undefined ? stored : { ...stored, hint };
    this.#parts.set(row, { part, ...(reason !== undefined && { reason }), ...(hint !== undefined && { hint }) });
    return part;
  }
}

/** Stored rows joined with their live values, built on access, with a few dynamic rows `above` them. */
export class StoredRows implements RowSet {
  readonly #above: readonly RestRow[];
  readonly #rows: readonly Row[];
  readonly #part: (row: Row) => RestRow;
  readonly #live: LiveValues | undefined;

  constructor(
    rows: readonly Row[],
    part: (row: Row) => RestRow,
    live: LiveValues | undefined,
    above: readonly RestRow[] = [],
  ) {
    this.#rows = rows;
    this.#part = part;
    this.#live = live;
    this.#above = above;
  }

  get length(): number {
    return this.#above.length + this.#rows.length;
  }

  id(index: number): string {
    const row = this.#stored(index);
    return row === undefined ? (this.#above[index]?.['.id'] ?? '') : rowIdText(row.id);
  }

  indexOf(id: string): number | undefined {
    const number = parseRowId(id);
    const stored = this.#rows.findIndex((row) => row.id === number);
    if (stored >= 0) return this.#above.length + stored;
    const made = this.#above.findIndex((row) => row['.id'] === id.toUpperCase());
    return made < 0 ? undefined : made;
  }

  indexOfName(name: string): number | undefined {
    // Searches the stored values, so that no row is built.
    const stored = this.#rows.findIndex(({ values }) => values.name === name);
    if (stored >= 0) return this.#above.length + stored;
    const made = this.#above.findIndex((row) => row.name === name);
    return made < 0 ? undefined : made;
  }

  value(index: number, property: string): string | undefined {
    const row = this.#stored(index);
    if (row !== undefined && this.#live?.properties.includes(property)) return this.#live.value(row.id, property);
    const part = row === undefined ? this.#above[index] : this.#part(row);
    return part !== undefined && Object.hasOwn(part, property) ? part[property] : undefined;
  }

  sortNumbers(column: string): ((index: number) => number) | undefined {
    // Dynamic rows have no such numbers.
    const read = this.#above.length > 0 ? undefined : this.#live?.sortNumbers?.(column);
    return read && ((index) => read(this.#rows[index]?.id ?? 0));
  }

  row(index: number): RestRow {
    const row = this.#stored(index);
    if (row === undefined) return this.#above[index] ?? {};
    const rest: Record<string, string> = { ...this.#part(row) };
    for (const property of this.#live?.properties ?? []) {
      const value = this.#live?.value(row.id, property);
      if (value !== undefined) rest[property] = value;
    }
    return rest;
  }

  #stored(index: number): Row | undefined {
    return this.#rows[index - this.#above.length];
  }
}
