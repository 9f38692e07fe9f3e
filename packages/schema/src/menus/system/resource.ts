import { defineMenu } from '../../define.js';
import type { Kind } from '../../kind.js';
import type { Prop } from '../../menu.js';
import { bytes } from '../../props/bytes.js';
import { counter } from '../../props/counter.js';
import { duration } from '../../props/duration.js';
import { int } from '../../props/int.js';
import { percent } from '../../props/percent.js';
import { text } from '../../props/text.js';

const fact = (kind: Kind, label: string, help: string): Prop => ({ kind, label, help, tab: 'General', readOnly: true });

/** Machine and versions that the router runs on. */
export const systemResource = defineMenu({
  path: '/system/resource',
  title: 'Resources',
  singular: 'Resources',
  kind: 'status',
  tree: ['System', 'Resources'],
  help: 'Processor, memory and storage of the machine, and the software version.',
  props: {
    uptime: fact(duration(), 'Uptime', 'Time since the machine started.'),
    version: fact(text(), 'Version', 'Software version.'),
    'free-memory': fact(bytes, 'Free Memory', 'Memory that is not in use.'),
    'total-memory': fact(bytes, 'Total Memory', 'Installed memory.'),
    cpu: fact(text(), 'CPU', 'Name of the processor.'),
    'cpu-count': fact(int({ min: 0, max: 65_535 }), 'CPU Count', 'Number of processor cores.'),
    'cpu-frequency': fact(int({ min: 0, max: 1_000_000, unit: 'MHz' }), 'CPU Frequency', 'Processor clock in MHz.'),
    'cpu-load': fact(percent, 'CPU Load', 'Average load of the cores.'),
    'free-hdd-space': fact(bytes, 'Free HDD Space', 'Storage that is not in use.'),
    'total-hdd-space': fact(bytes, 'Total HDD Size', 'Size of the storage.'),
    'architecture-name': fact(text(), 'Architecture Name', 'Processor architecture.'),
    'board-name': fact(text(), 'Board Name', 'Name of the product.'),
    platform: fact(text(), 'Platform', 'Maker of the product.'),
    'handed-over-packets': fact(
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
