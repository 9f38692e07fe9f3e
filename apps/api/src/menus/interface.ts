import { checkEthernet } from '../config/checks/interfaces.js';
import { counterCommands } from '../rest/commands/counters.js';
import { monitorTraffic } from '../rest/commands/monitor-traffic.js';
import { interfacesView } from '../view/interfaces.js';
import type { MenuModule } from './module.js';

export const interfaces: MenuModule = {
  path: '/interface',
  check: checkEthernet,
  live: (menu, { store, live }) => interfacesView(menu, store, live),
  commands: { ...counterCommands('reset-interface-counters'), 'monitor-traffic': monitorTraffic },
};
