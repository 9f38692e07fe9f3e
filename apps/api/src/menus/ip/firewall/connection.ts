import { findConnections } from '../../../rest/tracked-connections.js';
import { connectionsView } from '../../../view/connections.js';
import type { MenuModule } from '../../module.js';

export const firewallConnection: MenuModule = {
  path: '/ip/firewall/connection',
  view: (_, { store, live }) => connectionsView(store, live, 'ip'),
  dynamic: { find: findConnections('ip') },
};
