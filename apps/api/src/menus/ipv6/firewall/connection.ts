import { findConnections } from '../../../rest/tracked-connections.js';
import { connectionsView } from '../../../view/connections.js';
import type { MenuModule } from '../../module.js';

export const ipv6Connection: MenuModule = {
  path: '/ipv6/firewall/connection',
  view: (_, { store, live }) => connectionsView(store, live, 'ipv6'),
  dynamic: { find: findConnections('ipv6') },
};
