import { compileFirewall } from '../../../compiler/firewall.js';
import { checkRulesOf } from '../../../config/checks/firewall.js';
import { type FieldError, fieldError, type ProposedRow } from '../../../config/proposed-row.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { countedRules } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

/** Property that an action of mangle writes. */
const WRITES: Readonly<Record<string, string>> = {
  'mark-packet': 'new-packet-mark',
  'mark-connection': 'new-connection-mark',
  'mark-routing': 'new-routing-mark',
  'change-dscp': 'new-dscp',
  'change-mss': 'new-mss',
};

function checkMangle({ menu, values }: ProposedRow): FieldError | undefined {
  const { action = 'accept', chain, protocol } = values;
  const property = Object.hasOwn(WRITES, action) ? WRITES[action] : undefined;
  if (property !== undefined && values[property] === undefined) {
    return fieldError(
      property,
      `${property} is required when action is ${action}: ${menu.props[property]?.kind.accepts}`,
    );
  }
  if (action === 'mark-routing' && ['input', 'forward', 'postrouting'].includes(chain ?? '')) {
    return fieldError(
      'action',
      `value of action: mark-routing works in chains prerouting and output only; here routing is already done`,
    );
  }
  if (action === 'change-mss' && protocol !== 'tcp') {
    return fieldError('action', 'value of action: change-mss can be used only if protocol is tcp');
  }
  return undefined;
}

export const firewallMangle: MenuModule = {
  path: '/ip/firewall/mangle',
  compile: (context) => ({ mangle: compileFirewall(context, 'mangle') }),
  check: checkRulesOf({ otherHooks: ['srcnat', 'dstnat'], check: checkMangle }),
  jumps: true,
  liveRows: ({ live }) => countedRules(live),
  commands: counterCommands('reset-counters'),
};
