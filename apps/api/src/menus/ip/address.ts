import type { Menu } from '@tollway/schema';
import { compileAddresses } from '../../compiler/addresses.js';
import { checkAddress } from '../../config/checks/addresses.js';
import { derivedValues } from '../../config/derived.js';
import type { ConfigStore } from '../../config/store.js';
import type { Row } from '../../snapshot/snapshot.js';
import type { View } from '../../view/rows.js';
import { StoredParts, StoredRows } from '../../view/stored-rows.js';
import type { MenuModule } from '../module.js';

const NO_NETWORK = 'the address has no network: without a prefix length such as /24 no neighbour is reached by it';

/** An address alone, of which nothing says who is at the other end, has mostly lost its mask. */
function hintOf({ values, disabled }: Row): string | undefined {
  const alone = /\/32$/.test(values.address ?? '') && values.network === undefined && !disabled;
  return alone ? NO_NETWORK : undefined;
}

/** Addresses with the network that they stand for. */
function addressesView(menu: Menu, store: ConfigStore): View {
  const parts = new StoredParts(menu);
  return async () => {
    const { snapshot, invalid } = store;
    return new StoredRows(
      snapshot.get(menu.path) ?? [],
      (row) => ({ ...parts.of(row, invalid.get(row.id), hintOf(row)), ...derivedValues(menu, row) }),
      undefined,
    );
  };
}

export const ipAddress: MenuModule = {
  path: '/ip/address',
  compile: (context) => ({ addresses: context.once(compileAddresses) }),
  check: checkAddress,
  view: (menu, { store }) => addressesView(menu, store),
};
