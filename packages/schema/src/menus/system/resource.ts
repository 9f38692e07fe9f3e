import { defineMenu } from '../../define.js';
import { readOnly } from '../../mixins/read-only.js';
import { bytes } from '../../props/bytes.js';
import { counter } from '../../props/counter.js';
import { duration } from '../../props/duration.js';
import { int } from '../../props/int.js';
import { percent } from '../../props/percent.js';
import { text } from '../../props/text.js';

/** Machine and versions that the router runs on. */
export const systemResource = defineMenu({
  path: '/system/resource',
  title: 'Resources',
  singular: 'Resources',
  kind: 'status',
  tree: ['System', 'Resources'],
  help: 'Processor, memory and storage of the machine, and the software version.',
  props: {
    uptime: readOnly(duration(), 'Uptime', 'Time since the machine started.'),
    version: readOnly(text(), 'Version', 'Software version.'),
    'free-memory': readOnly(bytes, 'Free Memory', 'Memory that is not in use.'),
    'total-memory': readOnly(bytes, 'Total Memory', 'Installed memory.'),
    cpu: readOnly(text(), 'CPU', 'Name of the processor.'),
    'cpu-count': readOnly(int({ min: 0, max: 65_535 }), 'CPU Count', 'Number of processor cores.'),
    'cpu-frequency': readOnly(int({ min: 0, max: 1_000_000, unit: 'MHz' }), 'CPU Frequency', 'Processor clock in MHz.'),
    'cpu-load': readOnly(percent, 'CPU Load', 'Average load of the cores.'),
    'free-hdd-space': readOnly(bytes, 'Free HDD Space', 'Storage that is not in use.'),
    'total-hdd-space': readOnly(bytes, 'Total HDD Size', 'Size of the storage.'),
    'architecture-name': readOnly(text(), 'Architecture Name', 'Processor architecture.'),
    'board-name': readOnly(text(), 'Board Name', 'Name of the product.'),
    platform: readOnly(text(), 'Platform', 'Maker of the product.'),
    'handed-over-packets': readOnly(
      counter('packets'),
      'Handed Over Packets',
      'Packets that went from one worker to another, which costs time: their connection or their queue is there.',
    ),
  },
  flags: [],
  columns: [],
  tabs: ['General'],
  commands: [],
  refreshMs: 1_000,
  window: { size: [760, 600] },
  source: 'live',
});
