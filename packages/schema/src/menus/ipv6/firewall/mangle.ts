import { defineMenu } from '../../../define.js';
import {
  action,
  chain,
  connectionMatch,
  ipv6FirewallMatch,
  ipv6Match,
  LIST_ACTIONS,
  markMatch,
  rateMatch,
  tcpFlagsMatch,
} from '../../../mixins/firewall-match.js';
import { ruleList, ruleState } from '../../../mixins/firewall-rule.js';
import { MANGLE_COLUMNS, MANGLE_MARKING_ACTIONS, mangleActions, markTargets } from '../../../mixins/mangle.js';
import { IPV6_FIREWALL_WINDOW } from '../../../windows.js';

const path = '/ipv6/firewall/mangle';

/** Rules of IPv6 that mark packets and connections, and change their headers. */
export const ipv6Mangle = defineMenu({
  path,
  title: 'IPv6 Mangle',
  singular: 'IPv6 Mangle Rule',
  ...ruleList,
  referenceTargets: markTargets,
  window: { tabOf: IPV6_FIREWALL_WINDOW },
  tree: ['IPv6', 'Firewall', 'Mangle'],
  help: 'Rules of IPv6 that mark packets and connections and change headers, evaluated from top to bottom.',
  props: {
    ...chain(path, ['prerouting', 'input', 'forward', 'output', 'postrouting'], 'prerouting'),
    ...ipv6FirewallMatch,
    ...connectionMatch,
    ...markMatch,
    ...tcpFlagsMatch,
    ...ipv6Match,
    ...rateMatch,
    ...action(
      path,
      ['accept', 'jump', 'return', 'log', 'passthrough', ...MANGLE_MARKING_ACTIONS, ...LIST_ACTIONS],
      '/ipv6/firewall/address-list',
    ),
    ...mangleActions,
    ...ruleState,
  },
  columns: MANGLE_COLUMNS,
});
