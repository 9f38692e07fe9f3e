import type { Menu } from '@tollway/schema';
import type { ConfigStore } from '../config/store.js';
import { withBuiltin } from '../snapshot/builtin.js';
import { type Row, rowsOf } from '../snapshot/snapshot.js';
import { JoinedRows } from './joined-rows.js';
import type { RestRow, RowSet, View } from './rows.js';
import { type LiveValues, StoredParts, StoredRows } from './stored-rows.js';

/** The configuration that a view shows. */
interface Config extends Pick<ConfigStore, 'snapshot' | 'invalid'> {
  /** Rows of the menu, those that always exist above the others. */
  readonly rows: readonly Row[];
}

/** What is shown beside the stored rows of a menu, from one reading of the data plane. */
export interface LiveRows {
  /** Values of the stored rows. */
  readonly values?: LiveValues | undefined;
  /** What a stored row does not do although it seems to. */
  readonly hintOf?: (row: Row) => string | undefined;
  /** Rows of the system above the stored ones: a few. */
  readonly above?: readonly RestRow[] | undefined;
  /** Rows of the system below the stored ones, a million of them maybe; `UNAVAILABLE_ROWS` while they are not known. */
  readonly below?: RowSet;
}

/** Reads the data plane. The result is called with the configuration as it is after that. */
export type ReadLive = (maxAgeMs?: number) => Promise<(config: Config) => LiveRows>;

/** Stored rows joined with what the data plane knows of them, and with the rows that the system makes. */
export function liveRowsView(menu: Menu, store: ConfigStore, read: ReadLive): View {
  const parts = new StoredParts(menu);
  return async (maxAgeMs) => {
    const liveRowsOf = await read(maxAgeMs);
    const { snapshot, invalid } = store;
    const rows = withBuiltin(menu, rowsOf(snapshot, menu.path));
    const { values, hintOf, above, below } = liveRowsOf({ snapshot, invalid, rows });
    const stored = new StoredRows(rows, (row) => parts.of(row, invalid.get(row.id), hintOf?.(row)), values, above);
    const isNone = below === undefined || (below.length === 0 && below.incomplete !== true);
    return isNone ? stored : new JoinedRows(menu, stored, below);
  };
}

/** Stored rows, and those that always exist, alone. */
export const storedView = (menu: Menu, store: ConfigStore): View => liveRowsView(menu, store, async () => () => ({}));
