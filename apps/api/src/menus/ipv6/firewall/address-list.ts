import { addressListsOf } from '../../../rest/address-list-entries.js';
import type { MenuModule } from '../../module.js';

const { compiled, ...lists } = addressListsOf('ipv6');

export const ipv6AddressList: MenuModule = {
  path: '/ipv6/firewall/address-list',
  compile: (context) => ({ 'ipv6-address-lists': compiled(context) }),
  ...lists,
};
