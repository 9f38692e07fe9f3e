import { addressListsOf } from '../../../rest/address-list-entries.js';
import type { MenuModule } from '../../module.js';

const { compiled, ...lists } = addressListsOf('ip');

export const addressList: MenuModule = {
  path: '/ip/firewall/address-list',
  compile: (context) => ({ 'address-lists': compiled(context) }),
  ...lists,
};
