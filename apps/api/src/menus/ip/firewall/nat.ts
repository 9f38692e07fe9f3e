import { ipv4Range, parseIntRange } from '@tollway/schema';
import { compileFirewall } from '../../../compiler/firewall.js';
import { noHost } from '../../../config/checks/addresses.js';
import { checkRulesOf, portsNeedProtocol } from '../../../config/checks/firewall.js';
import { type FieldError, fieldError, type ProposedRow } from '../../../config/proposed-row.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { countedRules } from '../../../view/firewall.js';
import type { MenuModule } from '../../module.js';

const SRCNAT_ACTIONS: readonly string[] = ['masquerade', 'src-nat'];
const DSTNAT_ACTIONS: readonly string[] = ['dst-nat', 'redirect'];

function checkNat({ menu, values }: ProposedRow): FieldError | undefined {
  const { chain, action = 'accept', protocol } = values;
  if (chain === 'dstnat' && SRCNAT_ACTIONS.includes(action)) return wrongChain(action, 'srcnat', DSTNAT_ACTIONS);
  if (chain === 'srcnat' && DSTNAT_ACTIONS.includes(action)) return wrongChain(action, 'dstnat', SRCNAT_ACTIONS);
  const translates = SRCNAT_ACTIONS.includes(action) || DSTNAT_ACTIONS.includes(action);
  if (translates && values['to-ports'] !== undefined && protocol !== 'tcp' && protocol !== 'udp') {
    return portsNeedProtocol('to-ports');
  }
  if (translates && values['to-ports'] !== undefined && parseIntRange(values['to-ports'])?.from === 0) {
    return fieldError(
      'to-ports',
      'value of to-ports: nothing is sent to or from port 0; it accepts ports from 1 to 65535',
    );
  }
  const to = translates && values['to-addresses'] !== undefined ? ipv4Range(values['to-addresses']) : undefined;
  if (to !== undefined && noHost(to.from, to.to) !== undefined) {
    return fieldError(
      'to-addresses',
      'value of to-addresses: no packet is sent to or from 0.0.0.0/8, 127.0.0.0/8 and addresses from 224.0.0.0 up; it accepts ' +
        'addresses of hosts',
    );
  }
  const needsTarget = action === 'dst-nat' || action === 'src-nat';
  if (needsTarget && values['to-addresses'] === undefined && values['to-ports'] === undefined) {
    return fieldError(
      'to-addresses',
      `to-addresses is required when action is ${action}: ${menu.props['to-addresses']?.kind.accepts}; or give to-ports`,
    );
  }
  return undefined;
}

const wrongChain = (action: string, chain: string, instead: readonly string[]): FieldError =>
  fieldError(
    'action',
    `value of action: ${action} works in chain ${chain} only; here give ${instead.join(', ')} or another action`,
  );

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
