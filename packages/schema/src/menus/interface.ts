import { monitorArguments, reading, resetCounters } from '../commands.js';
import { defineMenu } from '../define.js';
import { comment } from '../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag } from '../mixins/disabled.js';
import { interfaceCounters, trafficColumns } from '../mixins/interface-counters.js';
import { mtu } from '../mixins/mtu.js';
import { bool } from '../props/bool.js';
import { words } from '../props/comma-list.js';
import { counter } from '../props/counter.js';
import { datetime } from '../props/datetime.js';
import { int } from '../props/int.js';
import { mac } from '../props/mac.js';
import { interfaceName, text } from '../props/text.js';
import { INTERFACE_WINDOW } from '../windows.js';

/** Every interface of the router, whatever its type, with live traffic. */
export const interfaces = defineMenu({
  path: '/interface',
  title: 'Interface List',
  singular: 'Interface',
  kind: 'fixed',
  tree: ['Interfaces', 'Interface'],
  help: 'All interfaces with their state and live traffic.',
  props: {
    name: { kind: interfaceName, label: 'Name', help: 'Name of the interface, unique.', tab: 'General' },
    type: {
      kind: text(),
      label: 'Type',
      help: 'Kind of interface; ether is an Ethernet port.',
      tab: 'General',
      readOnly: true,
    },
    'default-name': {
      kind: text(),
      label: 'Default Name',
      help: 'Name the port was claimed under.',
      tab: 'General',
      readOnly: true,
    },
    mtu,
    'actual-mtu': {
      kind: int({ min: 0, max: 65_535, unit: 'bytes' }),
      label: 'Actual MTU',
      help: 'MTU now in effect.',
      tab: 'General',
      readOnly: true,
    },
    l2mtu: {
      kind: int({ min: 0, max: 65_535, unit: 'bytes' }),
      label: 'L2 MTU',
      help: 'Largest Ethernet payload that the port can carry.',
      tab: 'General',
      readOnly: true,
    },
    'mac-address': {
      kind: mac,
      label: 'MAC Address',
      help: 'Link-layer address in use.',
      tab: 'General',
      readOnly: true,
    },
    ...disabled(),
    ...comment(),
    ...dynamic(),
    'last-link-down-time': {
      kind: datetime,
      label: 'Last Link Down Time',
      help: 'When the link last went down.',
      tab: 'Status',
      readOnly: true,
    },
    'last-link-up-time': {
      kind: datetime,
      label: 'Last Link Up Time',
      help: 'When the link last came up.',
      tab: 'Status',
      readOnly: true,
    },
    'link-downs': {
      kind: counter(),
      label: 'Link Downs',
      help: 'How often the link went down.',
      tab: 'Status',
      readOnly: true,
    },
    running: {
      kind: bool,
      label: 'Running',
      help: 'The link is up and the interface enabled.',
      tab: 'Status',
      readOnly: true,
    },
    ...interfaceCounters,
  },
  flags: [dynamicFlag, disabledFlag, { letter: 'R', prop: 'running', title: 'running' }],
  columns: ['name', 'type', 'actual-mtu', 'l2mtu', ...trafficColumns],
  tabs: ['General', 'Status', 'Traffic'],
  key: ['name'],
  commands: [
    'set',
    'reset',
    'enable',
    'disable',
    'comment',
    { ...resetCounters, allByDefault: true },
    reading({
      name: 'monitor-traffic',
      help: 'Rates of interfaces over the last full second.',
      target: 'menu',
      args: {
        interface: {
          kind: words,
          help: 'Names of interfaces, separated by commas, or aggregate for their sum.',
          required: true,
        },
        numbers: { kind: words, help: 'The same, in place of interface.' },
        '.id': { kind: words, help: 'The same, in place of interface.' },
        ...monitorArguments,
      },
      result: ['name', ...Object.keys(interfaceCounters).filter((name) => name.endsWith('-per-second'))],
    }),
  ],
  refreshMs: 1_000,
  window: { tabOf: INTERFACE_WINDOW, size: [980, 560] },
  source: 'live',
  interfaceType: 'any',
});
