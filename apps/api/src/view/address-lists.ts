import type { Menu } from '@tollway/schema';
import type { AddressListDump } from '../agent/address-list-entries.js';
import type { ConfigStore } from '../config/store.js';
import type { LiveState } from '../state/live-state.js';
import { JoinedRows } from './joined-rows.js';
import { type RestRow, type RowSet, UNAVAILABLE_ROWS, type View } from './rows.js';
import { StoredParts, StoredRows } from './stored-rows.js';

/** Entries of address lists: those that are stored, then those that rules and users added for a time. */
export function addressListsView(menu: Menu, store: ConfigStore, live: LiveState): View {
  const parts = new StoredParts(menu);
  return async (maxAgeMs) => {
    const dump = await live.addressLists(maxAgeMs);
    const { snapshot, invalid } = store;
    const stored = new StoredRows(
      snapshot.get(menu.path) ?? [],
      (row) => parts.of(row, invalid.get(row.id)),
      undefined,
    );
    if (dump === undefined) return new JoinedRows(stored, UNAVAILABLE_ROWS);
    return dump.count === 0 ? stored : new JoinedRows(stored, new DynamicRows(dump));
  };
}

class DynamicRows implements RowSet {
  readonly #dump: AddressListDump;

  constructor(dump: AddressListDump) {
    this.#dump = dump;
  }

  get length(): number {
    return this.#dump.count;
  }

  id(index: number): string {
    return this.#dump.id(index);
  }

  indexOf(id: string): number | undefined {
    return this.#dump.indexOf(id);
  }

  async distinct(property: string): Promise<readonly string[] | undefined> {
    return property === 'list' ? this.#dump.lists : undefined;
  }

  value(index: number, property: string): string | undefined {
    return this.#dump.value(index, property);
  }

  row(index: number): RestRow {
    return this.#dump.row(index);
  }
}
