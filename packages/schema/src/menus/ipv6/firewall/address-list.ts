import { defineMenu } from '../../../define.js';
import { comment } from '../../../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag } from '../../../mixins/disabled.js';
import { readOnly } from '../../../mixins/read-only.js';
import { datetime } from '../../../props/datetime.js';
import { duration } from '../../../props/duration.js';
import { ipv6RangeExact } from '../../../props/ipv6-range.js';
import { name } from '../../../props/text.js';
import { IPV6_FIREWALL_WINDOW } from '../../../windows.js';

/** Named sets of IPv6 addresses for firewall rules. */
export const ipv6AddressList = defineMenu({
  path: '/ipv6/firewall/address-list',
  title: 'IPv6 Address Lists',
  singular: 'IPv6 Firewall Address List',
  kind: 'list',
  tree: ['IPv6', 'Firewall', 'Address Lists'],
  help: 'IPv6 addresses gathered under a name that firewall rules can refer to.',
  props: {
    list: {
      kind: name({ ref: [{ menu: '/ipv6/firewall/address-list', prop: 'list' }] }),
      label: 'Name',
      help: 'Name of the list that the address is in.',
      tab: 'General',
      required: true,
      quickFilter: { label: 'List', all: 'all lists', op: 'is' },
      dataplane: true,
    },
    address: {
      kind: ipv6RangeExact,
      label: 'Address',
      help: 'Address, prefix or range.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    timeout: {
      kind: duration({ minMs: 1_000 }),
      label: 'Timeout',
      help: 'Time left of an entry; one that is added with a timeout is not stored. Without one it stays.',
      tab: 'General',
      unset: true,
    },
    'creation-time': { ...readOnly(datetime, 'Creation Time', 'When the entry was added.'), stampedOnAdd: true },
    ...disabled(),
    ...comment(),
    ...dynamic('General'),
  },
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
