import { defineMenu } from '../../../define.js';
import { addressListProps } from '../../../mixins/address-list.js';
import { disabledFlag, dynamicFlag } from '../../../mixins/disabled.js';
import { ipRangeExact } from '../../../props/ip-range.js';
import { FIREWALL_WINDOW } from '../../../windows.js';

/** Named sets of addresses for firewall rules. */
export const addressList = defineMenu({
  path: '/ip/firewall/address-list',
  title: 'Address Lists',
  singular: 'Firewall Address List',
  kind: 'list',
  tree: ['IP', 'Firewall', 'Address Lists'],
  help: 'Addresses gathered under a name that firewall rules can refer to.',
  props: addressListProps('/ip/firewall/address-list', ipRangeExact),
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
  window: { tabOf: FIREWALL_WINDOW },
  source: 'union',
});
