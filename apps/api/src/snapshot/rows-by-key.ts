import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { Row } from './snapshot.js';

/**
 * Key by which rows are looked up, such as their name or the names that they contain; a row with the key `undefined` is
 * never found. There is one index for each function.
 */
export type KeyOf = (values: Row['values']) => string | readonly string[] | undefined;

export const nameOf = (values: Row['values']): string | undefined => values.name;

/** Indexes of the rows of a menu: ten thousand rows are checked against each other without linear searches. */
export class RowsByKey {
  readonly #rows: readonly Row[];
  readonly #indexes = new Map<KeyOf, Index>();

  /** @param rows may change later if {@link added} and {@link removed} are called for each change. */
  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  get all(): readonly Row[] {
    return this.#rows;
  }

  /** Rows with this key. */
  having(keyOf: KeyOf, key: string): ReadonlySet<Row> {
    const found = this.#index(keyOf).get(key);
    return found === undefined ? NONE : found instanceof Set ? found : new Set([found]);
  }

  /** Builds the index for {@link having} in time slices; the rows must not change meanwhile. */
  async prepare(keyOf: KeyOf, slicer: TimeSlicer): Promise<void> {
    if (this.#indexes.has(keyOf)) return;
    const index: Index = new Map();
    await slicer.map(this.#rows, (row) => insert(index, keyOf, row));
    this.#indexes.set(keyOf, index);
  }

  added(row: Row): void {
    for (const [keyOf, index] of this.#indexes) insert(index, keyOf, row);
  }

  removed(row: Row): void {
    for (const [keyOf, index] of this.#indexes) {
      for (const key of keysOf(keyOf, row)) forget(index, key, row);
    }
  }

  #index(keyOf: KeyOf): Index {
    let index = this.#indexes.get(keyOf);
    if (index === undefined) {
      index = new Map();
      for (const row of this.#rows) insert(index, keyOf, row);
      this.#indexes.set(keyOf, index);
    }
    return index;
  }
}

/** Rows by key. Most keys have one row, and a set for each of a hundred thousand keys would dominate the time. */
type Index = Map<string, Row | Set<Row>>;

const NONE: ReadonlySet<Row> = new Set();

function keysOf(keyOf: KeyOf, { values }: Row): readonly string[] {
  const keys = keyOf(values);
  return keys === undefined ? [] : typeof keys === 'string' ? [keys] : keys;
}

function insert(index: Index, keyOf: KeyOf, row: Row): void {
  for (const key of keysOf(keyOf, row)) {
    const found = index.get(key);
    if (found === undefined) index.set(key, row);
    else if (found instanceof Set) found.add(row);
    else index.set(key, new Set([found, row]));
  }
}

function forget(index: Index, key: string, row: Row): void {
  const found = index.get(key);
  if (found instanceof Set) found.delete(row);
  else if (found === row) index.delete(key);
}
