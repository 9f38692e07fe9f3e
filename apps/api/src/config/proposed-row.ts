import type { Menu } from '@tollway/schema';
import type { KeyOf, RowsByKey } from '../snapshot/rows-by-key.js';
import type { ConfigSnapshot, Row } from '../snapshot/snapshot.js';

/** Error in a request, for people; `property` is the field it belongs to. */
export interface FieldError {
  readonly property?: string;
  /** Names the property and what it accepts. */
  readonly detail: string;
}

/** A row before it is stored, in the form in which the checks of its menu receive it. */
export interface ProposedRow {
  readonly menu: Menu;
  readonly values: Readonly<Record<string, string>>;
  /** Properties to which the request gives a value. */
  readonly given: ReadonlySet<string>;
  /** Values of the row before the request; undefined for a new row. */
  readonly before: Readonly<Record<string, string>> | undefined;
  /** The other rows of the menu. */
  readonly others: OtherRows;
  readonly snapshot: ConfigSnapshot;
}

/** An error that belongs to a field. */
export const fieldError = (property: string, detail: string): FieldError => ({ property, detail });

/** Rows of a menu except the checked one. */
export class OtherRows {
  readonly #rows: RowsByKey;
  readonly #own: number | undefined;

  /** @param own id of the checked row; undefined for a new row. */
  constructor(rows: RowsByKey, own: number | undefined) {
    this.#rows = rows;
    this.#own = own;
  }

  /** All of these rows. Takes linear time: for menus with few rows. */
  all(): readonly Row[] {
    return this.#rows.all.filter(({ id }) => id !== this.#own);
  }

  /** The rows with this key. */
  having(keyOf: KeyOf, key: string): readonly Row[] {
    return [...this.#rows.having(keyOf, key)].filter(({ id }) => id !== this.#own);
  }

  /** The first row with this key. */
  first(keyOf: KeyOf, key: string): Row | undefined {
    for (const row of this.#rows.having(keyOf, key)) if (row.id !== this.#own) return row;
    return undefined;
  }

  /** Whether there is a row with this key. */
  has(keyOf: KeyOf, key: string): boolean {
    return this.first(keyOf, key) !== undefined;
  }
}
