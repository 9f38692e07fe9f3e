import type { Cells } from '../query/query.js';
import type { TimeSlicer } from '../scheduling/time-slicer.js';

/** An item as REST sends it: property → text. */
export type RestRow = Readonly<Record<string, string>>;

/** Items of a menu. Each cell is decoded when it is read. */
export interface RowSet extends Cells {
  readonly length: number;
  /** True when items are missing that only the data plane knows: it does not answer. */
  readonly incomplete?: boolean;
  id(index: number): string;
  row(index: number): RestRow;
  /** Index of the item with this `.id`, if it can be found without a linear search. */
  indexOf?(id: string): number | undefined;
  /** Index of the item with this `name`. */
  indexOfName?(name: string): number | undefined;
  /** Builds the index of {@link indexOf} in slices, where that takes long; without this, the first look-up builds it. */
  prepareIds?(slicer: TimeSlicer): Promise<void>;
  /** Builds in slices the indexes that values of the requested properties are computed with. */
  prepareValues?(isRequested: IsRequested, slicer: TimeSlicer): Promise<void>;
  /** Distinct values of a property, if they are known without a linear search. */
  distinct?(property: string, slicer: TimeSlicer): Promise<readonly string[] | undefined>;
  /**
   * Numbers in the order of a column's values, for columns in which every item has a value: sorting by them decodes no
   * texts. `undefined` for other columns. A column is a property or half of a pair.
   */
  sortNumbers?(column: string): ((index: number) => number) | undefined;
}

export class ArrayRows implements RowSet {
  readonly #rows: readonly RestRow[];
  readonly incomplete: boolean;

  constructor(rows: readonly RestRow[], incomplete = false) {
    this.#rows = rows;
    this.incomplete = incomplete;
  }

  get length(): number {
    return this.#rows.length;
  }

  id(index: number): string {
    return this.#rows[index]?.['.id'] ?? '';
  }

  indexOf(id: string): number | undefined {
    const index = this.#rows.findIndex((row) => row['.id'] === id.toUpperCase());
    return index < 0 ? undefined : index;
  }

  value(index: number, property: string): string | undefined {
    const row = this.#rows[index];
    return row !== undefined && Object.hasOwn(row, property) ? row[property] : undefined;
  }

  row(index: number): RestRow {
    return this.#rows[index] ?? {};
  }
}

/**
 * Items that only the data plane knows, while it is not connected: viewers get no rows and the reason, single requests
 * are refused.
 */
export const UNAVAILABLE_ROWS: RowSet = new ArrayRows([], true);

/** Test whether a single request asks for a property. */
export type IsRequested = (property: string) => boolean;

/**
 * Rows that a menu shows: configuration joined with live state that is at most `maxAgeMs` old (default 0: read now).
 * Settings menus are one row without `.id`. If `isRequested` is given and includes rates, they are measured first if
 * there is no earlier reading; viewers without it get rates with their next reading.
 */
export type View = (maxAgeMs?: number, isRequested?: IsRequested) => Promise<RowSet>;

export const yesNo = (value: boolean): 'true' | 'false' => (value ? 'true' : 'false');
