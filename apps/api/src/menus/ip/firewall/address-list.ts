import { AddressLists } from '../../../compiler/address-lists.js';
import { addressIn, checkAddressListEntry } from '../../../config/checks/addresses.js';
import {
  addDynamicEntries,
  findDynamicEntries,
  hasTimeout,
  refuseTimeout,
} from '../../../rest/commands/address-lists.js';
import { addressListsView } from '../../../view/address-lists.js';
import type { MenuModule } from '../../module.js';

export const addressList: MenuModule = {
  path: '/ip/firewall/address-list',
  compile: (context) => ({ 'address-lists': context.once(AddressLists.of).compiled() }),
  check: checkAddressListEntry,
  keys: [addressIn],
  view: (menu, { store, live }) => addressListsView(menu, store, live),
  dynamic: { find: findDynamicEntries, addsDynamic: hasTimeout, add: addDynamicEntries, refuse: refuseTimeout },
};
