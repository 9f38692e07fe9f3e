import { resetCounters } from '../../commands.js';
import { defineMenu } from '../../define.js';
import { arp } from '../../mixins/arp.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag } from '../../mixins/disabled.js';
import { interfaceCounters, trafficColumns } from '../../mixins/interface-counters.js';
import { mtu } from '../../mixins/mtu.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { duration } from '../../props/duration.js';
import { oneOf } from '../../props/enum.js';
import { int } from '../../props/int.js';
import { mac } from '../../props/mac.js';
import { reference } from '../../props/reference.js';
import { interfaceName } from '../../props/text.js';
import { INTERFACE_WINDOW } from '../../windows.js';

/** What a VLAN counts and has rates of: a port alone has errors, and drops for want of buffers. */
const counters = Object.fromEntries(Object.entries(interfaceCounters).filter(([name]) => !/drop|error/.test(name)));

/** VLANs: the frames of another interface that carry a tag. */
export const vlan = defineMenu({
  path: '/interface/vlan',
  title: 'VLAN',
  singular: 'Interface',
  kind: 'list',
  tree: ['Interfaces', 'VLAN'],
  help: 'VLANs: interfaces for the frames of another interface that carry a tag.',
  props: {
    name: {
      kind: interfaceName,
      label: 'Name',
      help: 'Name of the interface, unique; generated when it is left out.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    mtu: {
      ...mtu,
      help: 'Largest IP packet that is sent, in bytes; at most the MTU of the interface below.',
      dataplane: true,
    },
    'actual-mtu': readOnly(
      int({ min: 0, max: 65_535, unit: 'bytes' }),
      'Actual MTU',
      'MTU now in effect; less than MTU where tags take the room.',
    ),
    l2mtu: readOnly(
      int({ min: 0, max: 65_535, unit: 'bytes' }),
      'L2 MTU',
      'Largest Ethernet payload that the port can carry behind the tags.',
    ),
    'mac-address': readOnly(mac, 'MAC Address', 'Link-layer address in use: that of the interface below.'),
    ...arp,
    'vlan-id': {
      kind: int({ min: 1, max: 4_094 }),
      label: 'VLAN ID',
      help: 'Number of the VLAN in the tags of its frames.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    interface: {
      kind: reference('/interface', 'name'),
      label: 'Interface',
      help: 'Interface whose frames with the tag are those of the VLAN; it may be a VLAN itself.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    'use-service-tag': {
      kind: bool,
      label: 'Use Service Tag',
      help: 'Tags of its frames are service tags of IEEE 802.1ad, with EtherType 0x88A8 in place of 0x8100.',
      tab: 'General',
      default: 'false',
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    running: readOnly(bool, 'Running', 'The interface below is running and the VLAN enabled.', 'Status'),
    ...counters,
  },
  constants: {
    mvrp: { kind: bool, value: 'false' },
    'loop-protect': { kind: oneOf(['default']), value: 'default' },
    'loop-protect-send-interval': { kind: duration({}), value: '5s' },
    'loop-protect-disable-time': { kind: duration({}), value: '5m' },
  },
  flags: [disabledFlag, { letter: 'R', prop: 'running', title: 'running' }],
  columns: [
    'name',
    'actual-mtu',
    'l2mtu',
    ...trafficColumns.filter((name) => name in counters),
    'vlan-id',
    'interface',
  ],
  tabs: ['General', 'Status', 'Traffic'],
  key: ['name'],
  autoName: 'vlan',
  commands: ['add', 'set', 'reset', 'remove', 'enable', 'disable', 'comment', { ...resetCounters, allByDefault: true }],
  refreshMs: 1_000,
  interfaceType: 'vlan',
  window: { tabOf: INTERFACE_WINDOW },
  source: 'stored',
});
