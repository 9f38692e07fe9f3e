import type { Menu } from '@tollway/schema';
import { parseRowId, type Row, rowIdText } from '../config/snapshot.js';
import type { RestRow, RowSet } from './rows.js';
import { storedRow } from './stored.js';

/** Values of stored rows that change by themselves. */
export interface LiveValues {
  readonly properties: readonly string[];
  /** Text of one of the properties for the row with this id. */
  value(id: number, property: string): string | undefined;
}

/** The stored part of rows as REST sends it. A row that no commit changed is put together once. */
export class StoredParts {
  readonly #menu: Menu;
  readonly #parts = new WeakMap<Row, { readonly reason: string | undefined; readonly part: RestRow }>();

  constructor(menu: Menu) {
    this.#menu = menu;
  }

  of(row: Row, reason: string | undefined): RestRow {
    const known = this.#parts.get(row);
    if (known !== undefined && known.reason === reason) return known.part;
    const part = storedRow(this.#menu, row, reason);
    this.#parts.set(row, { reason, part });
    return part;
  }
}

/** Stored rows joined with their live values, as far as somebody looks; `above` them what the data plane made. */
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

  value(index: number, property: string): string | undefined {
    const row = this.#stored(index);
    if (row !== undefined && this.#live?.properties.includes(property)) return this.#live.value(row.id, property);
    const part = row === undefined ? this.#above[index] : this.#part(row);
    return part !== undefined && Object.hasOwn(part, property) ? part[property] : undefined;
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

  all(): readonly RestRow[] {
    return Array.from({ length: this.length }, (_, index) => this.row(index));
  }

  #stored(index: number): Row | undefined {
    return this.#rows[index - this.#above.length];
  }
}
