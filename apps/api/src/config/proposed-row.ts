import type { Menu } from '@tollway/schema';
import type { KeyOf, RowsByKey } from '../snapshot/rows-by-key.js';
import type { ConfigSnapshot, Row } from '../snapshot/snapshot.js';

/** Error in a request, for people; `property` is the field it belongs to. */
export interface FieldError {
  readonly property?: string;
  /** Names the property and what it accepts. */
  readonly detail: string;
}

/** A row in the making, as the checks of its menu see it. */
export interface ProposedRow {
  readonly menu: Menu;
  readonly values: Readonly<Record<string, string>>;
  /** Properties that the request names with a value. */
  readonly given: ReadonlySet<string>;
  /** Values of the row so far; undefined for one that is added. */
  readonly before: Readonly<Record<string, string>> | undefined;
  /** The other rows of the menu. */
  readonly others: OtherRows;
  readonly snapshot: ConfigSnapshot;
}

/** An error that belongs to a field. */
export const fieldError = (property: string, detail: string): FieldError => ({ property, detail });

/** Rows of a menu without the one at hand. */
export class OtherRows {
  readonly #rows: RowsByKey;
  readonly #own: number | undefined;

  /** @param own id of the row at hand; undefined for one that is added. */
  constructor(rows: RowsByKey, own: number | undefined) {
    this.#rows = rows;
    this.#own = own;
  }

  /** All of them: a walk, for menus whose rows are few. */
  all(): readonly Row[] {
    return this.#rows.all.filter(({ id }) => id !== this.#own);
  }

  /** Rows among them with this key. */
  having(keyOf: KeyOf, key: string): readonly Row[] {
    return [...this.#rows.having(keyOf, key)].filter(({ id }) => id !== this.#own);
  }

  /** First row among them with this key. */
  first(keyOf: KeyOf, key: string): Row | undefined {
    for (const row of this.#rows.having(keyOf, key)) if (row.id !== this.#own) return row;
    return undefined;
  }

  /** True when one of them has this key. */
  has(keyOf: KeyOf, key: string): boolean {
    return this.first(keyOf, key) !== undefined;
  }
}
