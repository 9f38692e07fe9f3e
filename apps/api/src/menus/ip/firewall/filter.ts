import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import type { Stats } from '../../../agent/messages.js';
import { compileFirewall } from '../../../compiler/firewall.js';
import { checkRulesOf } from '../../../config/checks/firewall.js';
import { counterCommands } from '../../../rest/commands/counters.js';
import { type Row, rowIdText } from '../../../snapshot/snapshot.js';
import { countedRules } from '../../../view/firewall.js';
import { type RestRow, yesNo } from '../../../view/rows.js';
import type { MenuModule } from '../../module.js';

/** `.id` of the dummy rule; in this menu it is the only dynamic row. */
const DUMMY_ID = rowIdText(FIRST_DYNAMIC_ROW);

/**
 * The rule that RouterOS shows above all others once a connection is fasttracked: it remains while there is such a
 * connection, or a rule with the action `fasttrack-connection`.
 */
function fasttrackCounters({ tracking, 'fast-path': counted }: Stats, rows: readonly Row[]): RestRow[] {
  const made = () => rows.some(({ values, disabled }) => values.action === 'fasttrack-connection' && !disabled);
  if (tracking['fasttracked-entries'] === 0 && !(counted['fasttrack-packets'] > 0 && made())) return [];
  return [
    {
      '.id': DUMMY_ID,
      chain: 'forward',
      action: 'passthrough',
      log: 'false',
      bytes: String(counted['fasttrack-bytes']),
      packets: String(counted['fasttrack-packets']),
      disabled: yesNo(false),
      comment: 'special dummy rule to show fasttrack counters',
      invalid: yesNo(false),
      dynamic: yesNo(true),
    },
  ];
}

export const firewallFilter: MenuModule = {
  path: '/ip/firewall/filter',
  compile: (context) => ({ filter: compileFirewall(context, 'filter') }),
  check: checkRulesOf({ otherHooks: ['prerouting', 'postrouting', 'srcnat', 'dstnat'] }),
  jumps: true,
  // A jump may lead to a rule with one of the other actions.
  droppingActions: ['drop', 'reject', 'tarpit', 'jump'],
  liveRows: ({ live }) => countedRules(live, fasttrackCounters),
  commands: counterCommands('reset-counters'),
};
