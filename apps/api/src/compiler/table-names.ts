import { type ConfigSnapshot, type Row, rowsOf } from '../snapshot/snapshot.js';
import { VRFS } from '../snapshot/vrfs.js';
import { InvalidRow } from './invalid-row.js';

/** The table that always exists, whose number is 0. */
export const MAIN_TABLE = 'main';

/** Menus of tables, in the order in which these are numbered. */
const MENUS = ['/routing/table', VRFS] as const;

/** Names of the tables, the place of each is its number. @param invalid rows that are not compiled */
export const tablesByNumber = (snapshot: ConfigSnapshot, invalid: ReadonlyMap<number, string>): readonly string[] => [
  MAIN_TABLE,
  ...MENUS.flatMap((menu) =>
    rowsOf(snapshot, menu).flatMap(({ id, disabled, values }) =>
      disabled || invalid.has(id) || values.name === undefined ? [] : [values.name],
    ),
  ),
];

/** The rows of a menu, if it has any. */
type Rows = readonly Row[] | undefined;

/** The names of routing tables that can be used: own ones, and those of VRFs. */
export class TableNames {
  readonly #names: ReadonlySet<string>;
  readonly #rows: readonly Rows[];

  static #last: TableNames | undefined;

  /** Cached: the same object while the tables are unchanged. */
  static of(snapshot: ConfigSnapshot): TableNames {
    const rows = MENUS.map((menu) => snapshot.get(menu));
    const last = TableNames.#last;
    if (last !== undefined && rows.every((each, at) => each === last.#rows[at])) return last;
    TableNames.#last = new TableNames(rows);
    return TableNames.#last;
  }

  private constructor(rows: readonly Rows[]) {
    this.#rows = rows;
    const all = rows.flatMap((each) => each ?? []);
    this.#names = new Set(all.flatMap(({ disabled, values }) => (disabled ? [] : (values.name ?? []))));
  }

  /** @throws InvalidRow, naming the property, for a table that does not exist or is disabled */
  check(property: string, name: string): void {
    if (name === MAIN_TABLE || this.#names.has(name)) return;
    throw new InvalidRow(`${property}: there is no enabled routing table ${name}`);
  }
}
