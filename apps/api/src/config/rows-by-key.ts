import type { Row } from './snapshot.js';

/**
 * What rows are looked up by, e.g. their name, or the names in them; `undefined`: such a row is never found. One
 * function, one index.
 */
export type KeyOf = (values: Row['values']) => string | readonly string[] | undefined;

export const nameOf = (values: Row['values']): string | undefined => values.name;

/** Rows of a menu by what they hold: ten thousand of them are checked against each other without walks. */
export class RowsByKey {
  readonly #rows: readonly Row[];
  readonly #indexes = new Map<KeyOf, Map<string, Set<Row>>>();

  /** @param rows may change later on, as long as {@link added} and {@link removed} are told. */
  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  get all(): readonly Row[] {
    return this.#rows;
  }

  /** Rows with this key. */
  having(keyOf: KeyOf, key: string): ReadonlySet<Row> {
    return this.#index(keyOf).get(key) ?? NONE;
  }

  added(row: Row): void {
    for (const [keyOf, index] of this.#indexes) insert(index, keyOf, row);
  }

  removed(row: Row): void {
    for (const [keyOf, index] of this.#indexes) {
      for (const key of keysOf(keyOf, row)) index.get(key)?.delete(row);
    }
  }

  #index(keyOf: KeyOf): Map<string, Set<Row>> {
    let index = this.#indexes.get(keyOf);
    if (index === undefined) {
      index = new Map();
      for (const row of this.#rows) insert(index, keyOf, row);
      this.#indexes.set(keyOf, index);
    }
    return index;
  }
}

const NONE: ReadonlySet<Row> = new Set();

function keysOf(keyOf: KeyOf, { values }: Row): readonly string[] {
  const keys = keyOf(values);
  return keys === undefined ? [] : typeof keys === 'string' ? [keys] : keys;
}

function insert(index: Map<string, Set<Row>>, keyOf: KeyOf, row: Row): void {
  for (const key of keysOf(keyOf, row)) {
    const rows = index.get(key);
    if (rows === undefined) index.set(key, new Set([row]));
    else rows.add(row);
  }
}
