import { compileFirewall } from '../../../compiler/firewall.js';
import { checkRulesOf } from '../../../config/checks/firewall.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { fasttrackCounters } from '../../../view/fast-path.js';
import { countedRules } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

export const ipv6Filter: MenuModule = {
  path: '/ipv6/firewall/filter',
  compile: (context) => ({ 'ipv6-filter': compileFirewall(context, 'filter', 'ipv6') }),
  check: checkRulesOf({ otherHooks: ['prerouting', 'postrouting', 'srcnat', 'dstnat'] }),
  jumps: true,
  // A jump may lead to a rule with one of the other actions.
  droppingActions: ['drop', 'reject', 'jump'],
  liveRows: ({ live }) => countedRules(live, fasttrackCounters('ipv6')),
  commands: counterCommands('reset-counters'),
};
