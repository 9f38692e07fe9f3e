import type { Menu } from '@tollway/schema';
import { derivedValues } from '../config/derived.js';
import type { ConfigStore } from '../config/store.js';
import { ArrayRows, type View } from './rows.js';
import { storedRow } from './stored.js';

/** Addresses with the network that they stand for. */
export function addressesView(menu: Menu, store: ConfigStore): View {
  return async () =>
    new ArrayRows(
      (store.snapshot.get(menu.path) ?? []).map((row) => ({
        ...storedRow(menu, row, store.invalid.get(row.id)),
        ...derivedValues(menu.path, row),
      })),
    );
}
