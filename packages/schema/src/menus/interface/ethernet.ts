import { monitorArguments, reading, resetCounters } from '../../commands.js';
import { defineMenu } from '../../define.js';
import { arp } from '../../mixins/arp.js';
import { comment } from '../../mixins/comment.js';
import { disabled, disabledFlag } from '../../mixins/disabled.js';
import { interfaceCounters, trafficColumns } from '../../mixins/interface-counters.js';
import { mtu } from '../../mixins/mtu.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { oneOf } from '../../props/enum.js';
import { int } from '../../props/int.js';
import { mac } from '../../props/mac.js';
import { interfaceName, text } from '../../props/text.js';
import { INTERFACE_WINDOW } from '../../windows.js';

/** Claimed Ethernet ports; one row per port, found by `default-name`. */
export const ethernet = defineMenu({
  path: '/interface/ethernet',
  title: 'Ethernet',
  singular: 'Interface',
  kind: 'fixed',
  tree: ['Interfaces', 'Ethernet'],
  help: 'Ethernet ports that the router has claimed.',
  props: {
    name: {
      kind: interfaceName,
      label: 'Name',
      help: 'Name of the interface, unique.',
      tab: 'General',
      dataplane: true,
    },
    'default-name': {
      kind: text(),
      label: 'Default Name',
      help: 'Name the port was claimed under.',
      tab: 'General',
      readOnly: true,
      dataplane: true,
    },
    mtu: { ...mtu, dataplane: true },
    l2mtu: readOnly(
      int({ min: 0, max: 65_535, unit: 'bytes' }),
      'L2 MTU',
      'Largest Ethernet payload that the port can carry.',
    ),
    'mac-address': {
      kind: mac,
      label: 'MAC Address',
      help: 'Link-layer address to use; without one the port keeps its own.',
      tab: 'General',
      unset: true,
      dataplane: true,
    },
    'orig-mac-address': readOnly(mac, 'Orig. MAC Address', 'Link-layer address of the port itself.'),
    ...arp,
    io: {
      kind: oneOf(['auto', 'af-packet', 'af-xdp']),
      label: 'I/O',
      help: 'How frames are exchanged with the port; auto leaves the choice to the router.',
      tab: 'General',
      default: 'auto',
      dataplane: true,
    },
    ...disabled(),
    ...comment(),
    running: readOnly(bool, 'Running', 'The link is up and the interface enabled.', 'Status'),
    'io-backend': readOnly(
      oneOf(['af-xdp', 'af-packet', 'memory']),
      'I/O Backend',
      'How frames are exchanged with the port now.',
      'Status',
    ),
    'io-reason': readOnly(text(), 'I/O Reason', 'Why this backend was chosen.', 'Status'),
    ...interfaceCounters,
  },
  flags: [disabledFlag, { letter: 'R', prop: 'running', title: 'running' }],
  columns: ['name', 'mtu', 'l2mtu', ...trafficColumns],
  tabs: ['General', 'Status', 'Traffic'],
  key: ['default-name'],
  commands: [
    'set',
    'reset',
    'unset',
    'enable',
    'disable',
    'comment',
    { ...resetCounters, allByDefault: true },
    reading({
      name: 'monitor',
      help: 'State of the links.',
      target: 'selection',
      args: monitorArguments,
      result: ['name', 'status'],
    }),
  ],
  refreshMs: 1_000,
  interfaceType: 'ether',
  window: { tabOf: INTERFACE_WINDOW },
  source: 'stored',
});
