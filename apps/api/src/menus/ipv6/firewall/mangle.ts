import { compileFirewall } from '../../../compiler/firewall.js';
import { checkRulesOf } from '../../../config/checks/firewall.js';
import { checkMangle } from '../../../config/checks/mangle.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { countedRules } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

export const ipv6Mangle: MenuModule = {
  path: '/ipv6/firewall/mangle',
  compile: (context) => ({ 'ipv6-mangle': compileFirewall(context, 'mangle', 'ipv6') }),
  check: checkRulesOf({ otherHooks: ['srcnat', 'dstnat'], check: checkMangle }),
  jumps: true,
  liveRows: ({ live }) => countedRules(live),
  commands: counterCommands('reset-counters'),
};
