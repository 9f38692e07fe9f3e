import { defineMenu } from '../../../define.js';
import type { Kind } from '../../../kind.js';
import type { Prop } from '../../../menu.js';
import { readOnly } from '../../../mixins/read-only.js';
import { percent } from '../../../props/percent.js';
import { text } from '../../../props/text.js';

const live = (kind: Kind, label: string, help: string): Prop => readOnly(kind, label, help, 'CPU');

/** Load of each core. */
export const systemResourceCpu = defineMenu({
  path: '/system/resource/cpu',
  title: 'CPU',
  singular: 'CPU',
  kind: 'status-list',
  tree: ['System', 'CPU'],
  help: 'Load of each processor core over the last second.',
  props: {
    cpu: live(text(), 'CPU', 'Core, cpu0 and up.'),
    load: live(percent, 'Load', 'Share of the time in which the core was busy.'),
    irq: live(percent, 'IRQ', 'Share spent in interrupts and soft interrupts.'),
    disk: live(percent, 'Disk', 'Share spent waiting for the disk.'),
  },
  flags: [],
  columns: ['cpu', 'load', 'irq', 'disk'],
  tabs: ['CPU'],
  key: ['cpu'],
  commands: [],
  refreshMs: 1_000,
  window: { openedBy: { label: 'CPU', menus: ['/system/resource'] } },
  source: 'live',
});
