import { compileAddresses } from '../../compiler/addresses.js';
import { checkAddress } from '../../config/checks/addresses.js';
import { addressesView } from '../../view/addresses.js';
import type { MenuModule } from '../module.js';

export const ipAddress: MenuModule = {
  path: '/ip/address',
  compile: (context) => ({ addresses: context.once(compileAddresses) }),
  check: checkAddress,
  live: (menu, { store }) => addressesView(menu, store),
};
