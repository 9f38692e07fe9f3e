import { findConnections } from '../../../rest/commands/connections.js';
import { connectionsView } from '../../../view/connections.js';
import type { MenuModule } from '../../module.js';

export const firewallConnection: MenuModule = {
  path: '/ip/firewall/connection',
  live: (_, { store, live }) => connectionsView(store, live),
  dynamic: { find: findConnections },
};
