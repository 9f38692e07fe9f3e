import type { Menu } from '@tollway/schema';
import type { ConfigStore } from '../config/store.js';
import { withBuiltin } from '../snapshot/builtin.js';
import { type Row, rowsOf } from '../snapshot/snapshot.js';
import { JoinedRows } from './joined-rows.js';
import type { RestRow, RowSet, View } from './rows.js';
import { type LiveValues, StoredParts, StoredRows } from './stored-rows.js';

/** The configuration that a view shows. */
interface Config extends Pick<ConfigStore, 'snapshot' | 'invalid'> {
  /** Rows of the menu, built-in rows first. */
  readonly rows: readonly Row[];
}

/** Live data of a menu, from one reading of the data plane. */
export interface LiveRows {
  /** Live values of the stored rows. */
  readonly values?: LiveValues | undefined;
  /** Text about an effect that a stored row lacks although its settings suggest it. */
  readonly hintOf?: (row: Row) => string | undefined;
  /** Dynamic rows above the stored ones: a few. */
  readonly above?: readonly RestRow[] | undefined;
  /** Dynamic rows below the stored ones, possibly a million; `UNAVAILABLE_ROWS` while they are unknown. */
  readonly below?: RowSet;
}

/** Reads the data plane. The result is called with the configuration as it is after the reading. */
export type ReadLive = (maxAgeMs?: number) => Promise<(config: Config) => LiveRows>;

/** Stored rows joined with their live values and with dynamic rows. */
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

/** Stored rows, including built-in ones, without live values. */
export const storedView = (menu: Menu, store: ConfigStore): View => liveRowsView(menu, store, async () => () => ({}));
