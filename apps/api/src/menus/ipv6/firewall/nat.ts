import { compileFirewall } from '../../../compiler/firewall.js';
import { checkRulesOf } from '../../../config/checks/firewall.js';
import { checkNat } from '../../../config/checks/nat.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { countedRules } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

export const ipv6Nat: MenuModule = {
  path: '/ipv6/firewall/nat',
  compile: (context) => ({ 'ipv6-nat': compileFirewall(context, 'nat', 'ipv6') }),
  check: checkRulesOf({
    otherHooks: ['input', 'forward', 'output', 'prerouting', 'postrouting'],
    check: checkNat,
  }),
  jumps: true,
  liveRows: ({ live }) => countedRules(live),
  commands: counterCommands('reset-counters'),
};
