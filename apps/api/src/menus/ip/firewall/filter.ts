import { compileFirewall } from '../../../compiler/firewall.js';
import { checkRulesOf } from '../../../config/checks/firewall.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { fasttrackCounters, rulesView } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

export const firewallFilter: MenuModule = {
  path: '/ip/firewall/filter',
  compile: (context) => ({ filter: compileFirewall(context, 'filter') }),
  check: checkRulesOf({ otherHooks: ['prerouting', 'postrouting', 'srcnat', 'dstnat'] }),
  view: (menu, { store, live }) => rulesView(menu, store, live, fasttrackCounters),
  commands: counterCommands('reset-counters'),
};
