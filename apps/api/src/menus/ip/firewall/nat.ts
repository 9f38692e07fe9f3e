import { compileFirewall } from '../../../compiler/firewall.js';
import { checkNat, checkRulesOf } from '../../../config/checks/firewall.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { rulesView } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

export const firewallNat: MenuModule = {
  path: '/ip/firewall/nat',
  compile: (context) => ({ nat: compileFirewall(context, 'nat') }),
  check: checkRulesOf({
    otherHooks: ['input', 'forward', 'output', 'prerouting', 'postrouting'],
    check: checkNat,
  }),
  view: (menu, { store, live }) => rulesView(menu, store, live),
  commands: counterCommands('reset-counters'),
};
