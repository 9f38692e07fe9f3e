import { checkAddress } from '../../config/checks/addresses.js';
import { addressesView } from '../../view/addresses.js';
import type { MenuModule } from '../module.js';

export const ipAddress: MenuModule = {
  path: '/ip/address',
  check: checkAddress,
  live: (menu, { store }) => addressesView(menu, store),
};
