import { defineMenu } from '../../../define.js';
import {
  action,
  chain,
  firewallMatch,
  icmpMatch,
  LIST_ACTIONS,
  markMatch,
  rateMatch,
} from '../../../mixins/firewall-match.js';
import { MATCH_COLUMNS, ruleList, ruleState } from '../../../mixins/firewall-rule.js';
import { bool } from '../../../props/bool.js';
import { intRange } from '../../../props/int-range.js';
import { ipRange } from '../../../props/ip-range.js';
import { FIREWALL_WINDOW } from '../../../windows.js';

const path = '/ip/firewall/nat';

/** Rules that translate addresses and ports of connections. */
export const firewallNat = defineMenu({
  path,
  title: 'NAT',
  singular: 'NAT Rule',
  ...ruleList,
  window: { tabOf: FIREWALL_WINDOW },
  tree: ['IP', 'Firewall', 'NAT'],
  help: 'Rules that translate addresses; the first packet of a connection decides for all of it.',
  props: {
    ...chain(path, ['srcnat', 'dstnat'], 'srcnat'),
    ...firewallMatch,
    ...markMatch,
    ...icmpMatch,
    ...rateMatch,
    ...action(path, [
      'accept',
      'jump',
      'return',
      'log',
      'passthrough',
      ...LIST_ACTIONS,
      'masquerade',
      'src-nat',
      'dst-nat',
      'redirect',
    ]),
    'to-addresses': {
      kind: ipRange,
      label: 'To Addresses',
      help: 'New address, or a range to choose from.',
      tab: 'Action',
      unset: true,
      when: { prop: 'action', values: ['src-nat', 'dst-nat'] },
      dataplane: true,
    },
    'to-ports': {
      kind: intRange({ min: 0, max: 65_535 }),
      label: 'To Ports',
      help: 'New port, or a range to choose from. Needs protocol tcp or udp.',
      tab: 'Action',
      unset: true,
      when: { prop: 'action', values: ['masquerade', 'src-nat', 'dst-nat', 'redirect'] },
      dataplane: true,
    },
    'randomise-ports': {
      kind: bool,
      label: 'Randomise Ports',
      help: 'Choose the new source port at random.',
      tab: 'Action',
      unset: true,
      when: { prop: 'action', values: ['masquerade', 'src-nat'] },
      dataplane: true,
    },
    ...ruleState,
  },
  columns: ['action', 'chain', ...MATCH_COLUMNS, 'to-addresses', 'to-ports', 'bytes', 'packets'],
});
