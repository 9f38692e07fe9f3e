import { defineMenu } from '../../../define.js';
import { readOnly } from '../../../mixins/read-only.js';
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
  help: 'Packets that the flow cache did not forward, by reason.',
  props: {
    reason: readOnly(text(), 'Reason', 'Name of the reason.'),
    description: readOnly(text({ sentence: true }), 'Description', 'What it means.'),
    packets: readOnly(counter('packets'), 'Packets', 'Packets since the data plane started.'),
    'packets-per-second': readOnly(
      counter('p/s'),
      'Packet Rate (p/s)',
      'Packets per second, over about the last second.',
    ),
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
