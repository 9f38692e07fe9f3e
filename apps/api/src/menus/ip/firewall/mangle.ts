import { compileFirewall } from '../../../compiler/firewall.js';
import { checkMangle, checkRulesOf } from '../../../config/checks/firewall.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { rulesView } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

export const firewallMangle: MenuModule = {
  path: '/ip/firewall/mangle',
  compile: (context) => ({ mangle: compileFirewall(context, 'mangle') }),
  check: checkRulesOf({ otherHooks: ['srcnat', 'dstnat'], check: checkMangle }),
  view: (menu, { store, live }) => rulesView(menu, store, live),
  commands: counterCommands('reset-counters'),
};
