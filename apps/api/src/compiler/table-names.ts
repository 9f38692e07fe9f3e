import type { ConfigSnapshot, Row } from '../snapshot/snapshot.js';
import { InvalidRow } from './invalid-row.js';

/** The table that always exists, whose number is 0. */
export const MAIN_TABLE = 'main';

/** The names of routing tables that can be used. */
export class TableNames {
  readonly #names: ReadonlySet<string>;
  readonly #rows: readonly Row[] | undefined;

  static #last: TableNames | undefined;

  /** Cached: the same object while the tables are unchanged. */
  static of(snapshot: ConfigSnapshot): TableNames {
    const rows = snapshot.get('/routing/table');
    const last = TableNames.#last;
    if (last !== undefined && last.#rows === rows) return last;
    TableNames.#last = new TableNames(rows);
    return TableNames.#last;
  }

  private constructor(rows: readonly Row[] | undefined) {
    this.#rows = rows;
    this.#names = new Set((rows ?? []).flatMap(({ disabled, values }) => (disabled ? [] : (values.name ?? []))));
  }

  /** @throws InvalidRow, naming the property, for a table that does not exist or is disabled */
  check(property: string, name: string): void {
    if (name === MAIN_TABLE || this.#names.has(name)) return;
    throw new InvalidRow(`${property}: there is no enabled routing table ${name}`);
  }
}
