import { defineMenu } from '../../../define.js';
import { addressListProps } from '../../../mixins/address-list.js';
import { disabledFlag, dynamicFlag } from '../../../mixins/disabled.js';
import { ipv6RangeExact } from '../../../props/ipv6-range.js';
import { IPV6_FIREWALL_WINDOW } from '../../../windows.js';

/** Named sets of IPv6 addresses for firewall rules. */
export const ipv6AddressList = defineMenu({
  path: '/ipv6/firewall/address-list',
  title: 'IPv6 Address Lists',
  singular: 'IPv6 Firewall Address List',
  kind: 'list',
  tree: ['IPv6', 'Firewall', 'Address Lists'],
  help: 'IPv6 addresses gathered under a name that firewall rules can refer to.',
  props: addressListProps('/ipv6/firewall/address-list', ipv6RangeExact),
  flags: [disabledFlag, dynamicFlag],
  columns: ['list', 'address', 'timeout', 'creation-time', 'comment'],
  tabs: ['General'],
  key: ['address', 'list'],
  commands: ['add', 'set', 'reset', 'remove', 'enable', 'disable', 'comment'],
  refreshMs: 1_000,
  dynamicRemovable: 'permanent',
  // A list without entries matches nothing; it exists as long as a rule names it.
  referenceTargets: [{ property: 'list', word: 'address list' }],
  onReferencedRemove: 'keep-name',
  window: { tabOf: IPV6_FIREWALL_WINDOW },
  source: 'union',
});
