import { compileFirewall } from '../../../compiler/firewall.js';
import { checkRulesOf } from '../../../config/checks/firewall.js';
import { checkMangle } from '../../../config/checks/mangle.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { countedRules } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

export const firewallMangle: MenuModule = {
  path: '/ip/firewall/mangle',
  compile: (context) => ({ mangle: compileFirewall(context, 'mangle') }),
  check: checkRulesOf({ otherHooks: ['srcnat', 'dstnat'], check: checkMangle }),
  jumps: true,
  liveRows: ({ live }) => countedRules(live),
  commands: counterCommands('reset-counters'),
};
