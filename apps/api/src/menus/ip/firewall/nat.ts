import { compileFirewall } from '../../../compiler/firewall.js';
import { checkRulesOf } from '../../../config/checks/firewall.js';
import { checkNat } from '../../../config/checks/nat.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { countedRules } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

export const firewallNat: MenuModule = {
  path: '/ip/firewall/nat',
  compile: (context) => ({ nat: compileFirewall(context, 'nat') }),
  check: checkRulesOf({
    otherHooks: ['input', 'forward', 'output', 'prerouting', 'postrouting'],
    check: checkNat,
  }),
  jumps: true,
  liveRows: ({ live }) => countedRules(live),
  commands: counterCommands('reset-counters'),
};
