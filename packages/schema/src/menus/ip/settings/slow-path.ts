import { defineMenu } from '../../../define.js';
import { counter } from '../../../props/counter.js';
import { text } from '../../../props/text.js';
import { IP_SETTINGS_WINDOW } from '../../../windows.js';

/** Reasons why packets took the slow path, with counts. */
export const ipSlowPath = defineMenu({
  path: '/ip/settings/slow-path',
  title: 'Slow Path',
  singular: 'Slow Path Reason',
  kind: 'status-list',
  tree: ['IP', 'Settings', 'Slow Path'],
  help: 'Packets that the flow cache did not forward, by the reason why it did not.',
  props: {
    reason: { kind: text(), label: 'Reason', help: 'Name of the reason.', tab: 'General', readOnly: true },
    description: {
      kind: text({ sentence: true }),
      label: 'Description',
      help: 'What it means.',
      tab: 'General',
      readOnly: true,
    },
    packets: {
      kind: counter('packets'),
      label: 'Packets',
      help: 'Packets since the data plane started.',
      tab: 'General',
      readOnly: true,
    },
    'packets-per-second': {
      kind: counter('p/s'),
      label: 'Packet Rate (p/s)',
      help: 'Packets per second, over about the last second.',
      tab: 'General',
      readOnly: true,
    },
  },
  flags: [],
  columns: ['reason', 'description', 'packets', 'packets-per-second'],
  tabs: ['General'],
  key: ['reason'],
  commands: [],
  refreshMs: 1_000,
  window: { tabOf: IP_SETTINGS_WINDOW },
  source: 'live',
});
