import { defineMenu } from '../../../define.js';
import {
  action,
  chain,
  connectionMatch,
  firewallMatch,
  icmpMatch,
  LIST_ACTIONS,
  markMatch,
  rateMatch,
  tcpFlagsMatch,
} from '../../../mixins/firewall-match.js';
import { ruleList, ruleState } from '../../../mixins/firewall-rule.js';
import { MANGLE_COLUMNS, MANGLE_MARKING_ACTIONS, mangleActions, markTargets } from '../../../mixins/mangle.js';
import { FIREWALL_WINDOW } from '../../../windows.js';

const path = '/ip/firewall/mangle';

/** Rules that mark packets and connections, and change their headers. */
export const firewallMangle = defineMenu({
  path,
  title: 'Mangle',
  singular: 'Mangle Rule',
  ...ruleList,
  referenceTargets: markTargets,
  window: { tabOf: FIREWALL_WINDOW },
  tree: ['IP', 'Firewall', 'Mangle'],
  help: 'Rules that mark packets and connections and change headers, evaluated from top to bottom.',
  props: {
    ...chain(path, ['prerouting', 'input', 'forward', 'output', 'postrouting'], 'prerouting'),
    ...firewallMatch,
    ...connectionMatch,
    ...markMatch,
    ...tcpFlagsMatch,
    ...icmpMatch,
    ...rateMatch,
    ...action(path, [
      'accept',
      'jump',
      'return',
      'log',
      'passthrough',
      'fasttrack-connection',
      ...MANGLE_MARKING_ACTIONS,
      ...LIST_ACTIONS,
    ]),
    ...mangleActions,
    ...ruleState,
  },
  columns: MANGLE_COLUMNS,
});
