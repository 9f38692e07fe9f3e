import { monitorArguments, reading, resetCounters } from '../commands.js';
import { defineMenu } from '../define.js';
import { comment } from '../mixins/comment.js';
import { disabled, disabledFlag, dynamic, dynamicFlag } from '../mixins/disabled.js';
import { interfaceCounters, trafficColumns } from '../mixins/interface-counters.js';
import { mtu } from '../mixins/mtu.js';
import { readOnly } from '../mixins/read-only.js';
import { bool } from '../props/bool.js';
import { wordList } from '../props/comma-list.js';
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
    type: readOnly(text(), 'Type', 'Kind of interface; ether is an Ethernet port.'),
    'default-name': readOnly(text(), 'Default Name', 'Name the port was claimed under.'),
    mtu,
    'actual-mtu': readOnly(int({ min: 0, max: 65_535, unit: 'bytes' }), 'Actual MTU', 'MTU now in effect.'),
    l2mtu: readOnly(
      int({ min: 0, max: 65_535, unit: 'bytes' }),
      'L2 MTU',
      'Largest Ethernet payload that the port can carry.',
    ),
    'mac-address': readOnly(mac, 'MAC Address', 'Link-layer address in use.'),
    ...disabled(),
    ...comment(),
    ...dynamic(),
    'last-link-down-time': readOnly(datetime, 'Last Link Down Time', 'When the link last went down.', 'Status'),
    'last-link-up-time': readOnly(datetime, 'Last Link Up Time', 'When the link last came up.', 'Status'),
    'link-downs': readOnly(counter(), 'Link Downs', 'How often the link went down.', 'Status'),
    running: readOnly(bool, 'Running', 'The link is up and the interface enabled.', 'Status'),
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
          kind: wordList('a name', 'names of interfaces, separated by commas, or aggregate'),
          help: 'Names of interfaces, separated by commas, or aggregate for their sum.',
          required: true,
          aliases: ['numbers', '.id'],
        },
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
