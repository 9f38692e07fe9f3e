import type { Menu } from '@tollway/schema';
import { derivedValues } from '../config/derived.js';
import type { Row } from '../config/snapshot.js';
import type { ConfigStore } from '../config/store.js';
import { ArrayRows, type View } from './rows.js';
import { storedRow } from './stored.js';

const NO_NETWORK = 'the address has no network: without a prefix length such as /24 no neighbour is reached by it';

/** An address alone, of which nothing says who is at the other end, has mostly lost its mask. */
function hintOf({ values, disabled }: Row): { hint?: string } {
  const alone = /\/32$/.test(values.address ?? '') && values.network === undefined && !disabled;
  return alone ? { hint: NO_NETWORK } : {};
}

/** Addresses with the network that they stand for. */
export function addressesView(menu: Menu, store: ConfigStore): View {
  return async () =>
    new ArrayRows(
      (store.snapshot.get(menu.path) ?? []).map((row) => ({
        ...storedRow(menu, row, store.invalid.get(row.id)),
        ...derivedValues(menu.path, row),
        ...hintOf(row),
      })),
    );
}
