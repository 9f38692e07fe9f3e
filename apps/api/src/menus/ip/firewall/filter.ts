import { compileFirewall } from '../../../compiler/firewall.js';
import { checkRulesOf } from '../../../config/checks/firewall.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { fasttrackCounters } from '../../../view/fast-path.js';
import { countedRules } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

export const firewallFilter: MenuModule = {
  path: '/ip/firewall/filter',
  compile: (context) => ({ filter: compileFirewall(context, 'filter') }),
  check: checkRulesOf({ otherHooks: ['prerouting', 'postrouting', 'srcnat', 'dstnat'] }),
  jumps: true,
  // A jump may lead to a rule with one of the other actions.
  droppingActions: ['drop', 'reject', 'tarpit', 'jump'],
  liveRows: ({ live }) => countedRules(live, fasttrackCounters('ip')),
  commands: counterCommands('reset-counters'),
};
