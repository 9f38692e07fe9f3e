/** Which columns of a table have nothing in them, as far as its rows are known. */
import { columnValue, type Menu, menuColumn } from '@tollway/schema';
import { useEffect, useState } from 'react';
import type { LiveMenu } from '../api/live-menu.ts';
import type { Row } from '../api/row.ts';

/** Columns of a menu that some row had a value for. One that had stays: columns do not go while somebody looks. */
export class FilledColumns {
  readonly #menu: Menu;
  readonly #filled = new Set<string>();
  #rows = 0;

  constructor(menu: Menu) {
    this.#menu = menu;
  }

  /** Looks at rows for values in columns that had none. Returns whether that changed anything. */
  look(rows: Iterable<Row>, columns: readonly string[]): boolean {
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

  /** Those of the columns that no row had a value for; none before there was a row. */
  empty(columns: readonly string[]): ReadonlySet<string> {
    return new Set(this.#rows === 0 ? [] : columns.filter((name) => !this.#filled.has(name)));
  }
}

/** What was found the last time that a menu was shown, so that its columns are there at once. */
const found = new Map<string, FilledColumns>();

/** The columns that no row has a value for; changes as rows come. */
export function useEmptyColumns(menu: Menu, live: LiveMenu, columns: readonly string[]): ReadonlySet<string> {
  const names = columns.join(' ');
  const [empty, setEmpty] = useState(() => filledOf(menu).empty(columns));
  useEffect(() => {
    const filled = filledOf(menu);
    const all = names.split(' ');
    const look = (ids: Iterable<string>) => {
      const rows = [...ids].map((id) => live.row(id)).filter((row) => row !== undefined);
      if (filled.look(rows, all)) setEmpty(filled.empty(all));
    };
    look(live.shown);
    setEmpty(filled.empty(all));
    return live.subscribe((change) => look(change.rows));
  }, [menu, live, names]);
  return empty;
}

function filledOf(menu: Menu): FilledColumns {
  const known = found.get(menu.path) ?? new FilledColumns(menu);
  found.set(menu.path, known);
  return known;
}
