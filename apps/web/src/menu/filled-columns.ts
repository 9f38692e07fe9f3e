/** Determines from the known rows which columns of a table have values. */
import { columnValue, type Menu, menuColumn } from '@tollway/schema';
import { useEffect, useMemo, useState } from 'react';
import type { LiveMenu, Query } from '../api/live-menu.ts';
import type { LiveRows } from '../api/live-rows.ts';
import type { Row } from '../api/row.ts';

/**
 * Columns of a menu that have had a value in some row. They are kept when the value disappears, so that columns do not
 * disappear while the table is open.
 */
export class FilledColumns {
  readonly #menu: Menu;
  readonly #filled = new Set<string>();
  #rows = 0;

  constructor(menu: Menu) {
    this.#menu = menu;
  }

  /** Searches rows for values in columns that had none so far. Returns whether it found any. */
  observe(rows: Iterable<Row>, columns: readonly string[]): boolean {
    const open = columns.flatMap((name) => (this.#filled.has(name) ? [] : (menuColumn(this.#menu, name) ?? [])));
    const before = this.#filled.size;
    const first = this.#rows === 0;
    for (const row of rows) {
      this.#rows += 1;
      for (const column of open) {
        if ((columnValue(column, row[column.property]) ?? '') !== '') this.#filled.add(column.name);
      }
    }
    return this.#filled.size > before || (first && this.#rows > 0);
  }

  /** True for a column that some row had a value for. */
  has(name: string): boolean {
    return this.#filled.has(name);
  }

  /** Whether any rows have been examined. */
  get known(): boolean {
    return this.#rows > 0;
  }

  /** Columns that no row had a value for; none before the first row was examined. */
  empty(columns: readonly string[]): ReadonlySet<string> {
    return new Set(this.#rows === 0 ? [] : columns.filter((name) => !this.#filled.has(name)));
  }
}

type Counts = Pick<LiveRows, 'matched' | 'total'>;

/** Query of the rows. */
type Asked = Pick<Query, 'filter' | 'find' | 'tree'>;

/** Whether a query returns all items; some branches of a tree may be folded. */
const asksForAll = ({ filter, find, tree }: Asked): boolean =>
  tree !== undefined && tree !== null && find === '' && Object.keys(filter).length === 0;

/**
 * The columns of one table with values. Columns that have values only in the rows of a filter are dropped together with
 * that filter.
 */
export class TableFilledColumns {
  readonly #menu: Menu;
  readonly #all: FilledColumns;
  #filtered: FilledColumns;
  #filter = '';

  /** @param all the columns with values in any table of the menu */
  constructor(menu: Menu, all: FilledColumns) {
    this.#menu = menu;
    this.#all = all;
    this.#filtered = new FilledColumns(menu);
  }

  /**
   * Examines rows as {@link FilledColumns.observe} does.
   * @param by the query of the rows
   */
  observe(rows: Iterable<Row>, columns: readonly string[], by: Asked, { matched, total }: Counts): boolean {
    // Columns are kept while a word is typed into Find, as they would otherwise change with each letter.
    const filter = JSON.stringify([by.filter, by.find !== '']);
    const other = filter !== this.#filter;
    if (other) this.#filtered = new FilledColumns(this.#menu);
    this.#filter = filter;
    // A filter that matches all items hides nothing.
    const whole = matched === total || asksForAll(by);
    return (whole ? this.#all : this.#filtered).observe(rows, columns) || other;
  }

  /** Columns that no row had a value for; none before the first row was examined. */
  empty(columns: readonly string[]): ReadonlySet<string> {
    const [all, filtered] = [this.#all, this.#filtered];
    return new Set([...(all.known ? all : filtered).empty(columns)].filter((name) => !filtered.has(name)));
  }
}

/** Columns that had values when a menu was last shown, so that they are shown at once. */
const found = new Map<string, FilledColumns>();

/** The columns that no row has a value for; updated as rows arrive. */
export function useEmptyColumns(menu: Menu, live: LiveMenu, columns: readonly string[]): ReadonlySet<string> {
  const names = columns.join(' ');
  const filled = useMemo(() => new TableFilledColumns(menu, filledOf(menu)), [menu]);
  const [empty, setEmpty] = useState(() => filled.empty(columns));
  useEffect(() => {
    const all = names.split(' ');
    const observe = (ids: Iterable<string>) => {
      const rows = [...ids].map((id) => live.row(id)).filter((row) => row !== undefined);
      if (filled.observe(rows, all, live.loadedQuery, live.state)) setEmpty(filled.empty(all));
    };
    observe(live.shown);
    setEmpty(filled.empty(all));
    return live.subscribe((change) => observe(change.rows));
  }, [filled, live, names]);
  return empty;
}

function filledOf(menu: Menu): FilledColumns {
  const known = found.get(menu.path) ?? new FilledColumns(menu);
  found.set(menu.path, known);
  return known;
}
