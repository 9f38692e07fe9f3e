import { compileInterfaces } from '../../compiler/interfaces.js';
import { checkEthernet } from '../../config/checks/interfaces.js';
import { counterCommands } from '../../rest/commands/counters.js';
import { monitorEthernet } from '../../rest/commands/monitor.js';
import { interfacesView } from '../../view/interfaces.js';
import type { MenuModule } from '../module.js';

export const ethernet: MenuModule = {
  path: '/interface/ethernet',
  compile: (context) => ({ interfaces: compileInterfaces(context) }),
  check: checkEthernet,
  live: (menu, { store, live }) => interfacesView(menu, store, live),
  commands: { ...counterCommands('reset-interface-counters'), monitor: monitorEthernet },
};
