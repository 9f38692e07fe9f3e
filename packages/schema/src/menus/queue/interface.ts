import { defineMenu } from '../../define.js';
import { queueStatistics } from '../../mixins/queue.js';
import { readOnly } from '../../mixins/read-only.js';
import { oneOf } from '../../props/enum.js';
import { reference } from '../../props/reference.js';
import { QUEUE_WINDOW } from '../../windows.js';

/** Queue type of an interface without an explicit one. */
export const DEFAULT_INTERFACE_QUEUE = 'only-hardware-queue';

/** Queue types of the ports. */
export const interfaceQueue = defineMenu({
  path: '/queue/interface',
  title: 'Interface Queues',
  singular: 'Interface Queue',
  kind: 'fixed',
  tree: ['Queues', 'Interface Queues'],
  help: 'Queue of packets that a port does not accept at once; other packets are not counted here.',
  props: {
    interface: readOnly(reference('/interface', 'name'), 'Interface', 'Interface whose queue it is.'),
    queue: {
      kind: reference('/queue/type', 'name'),
      label: 'Queue Type',
      help: 'Queue type for packets that the port does not accept at once; only-hardware-queue has none.',
      tab: 'General',
      default: DEFAULT_INTERFACE_QUEUE,
      dataplane: true,
    },
    'default-queue': readOnly(
      reference('/queue/type', 'name'),
      'Default Queue Type',
      'Type in force where none was chosen.',
    ),
    'active-queue': readOnly(
      oneOf(['no-queue', 'queue-tree']),
      'Active Queue',
      'Whether a queue tree has the interface as its parent.',
    ),
    ...queueStatistics({
      passing: 'that had to wait for the port and passed',
      names: [
        'rate',
        'packet-rate',
        'queued-bytes',
        'queued-packets',
        'bytes',
        'packets',
        'dropped',
        'marked',
        'max-wait',
        'avg-wait',
      ],
    }),
  },
  flags: [],
  columns: ['interface', 'queue', 'default-queue', 'active-queue', 'rate', 'queued-bytes', 'dropped'],
  tabs: ['General', 'Statistics'],
  key: ['interface'],
  commands: ['set', 'reset'],
  refreshMs: 1_000,
  window: { tabOf: QUEUE_WINDOW },
  source: 'live',
  rowsOf: '/interface',
});
