import { defineMenu } from '../../../define.js';
import { bool } from '../../../props/bool.js';
import { bytes } from '../../../props/bytes.js';
import { counter } from '../../../props/counter.js';
import { text } from '../../../props/text.js';
import { IP_SETTINGS_WINDOW } from '../../../windows.js';

/** The ways past the slow path, and what closes those that are closed. */
export const ipFastPath = defineMenu({
  path: '/ip/settings/fast-path',
  title: 'Fast Path',
  singular: 'Fast Path Handler',
  kind: 'status-list',
  tree: ['IP', 'Settings', 'Fast Path'],
  help: 'Ways by which packets skip the stages that cannot change their fate, and what closes them.',
  props: {
    name: { kind: text(), label: 'Handler', help: 'Way past the slow path.', tab: 'General', readOnly: true },
    active: { kind: bool, label: 'Active', help: 'Packets may take this way.', tab: 'General', readOnly: true },
    'blocked-by': {
      kind: text(),
      label: 'Blocked By',
      help: 'First condition that does not hold.',
      tab: 'General',
      readOnly: true,
    },
    packets: {
      kind: counter('packets'),
      label: 'Packets',
      help: 'Packets that took this way since the data plane started; those of flow-offload are among the others.',
      tab: 'General',
      readOnly: true,
    },
    bytes: { kind: bytes, label: 'Bytes', help: 'IP bytes of these packets.', tab: 'General', readOnly: true },
  },
  flags: [{ letter: 'A', prop: 'active', title: 'active' }],
  columns: ['name', 'blocked-by', 'packets', 'bytes'],
  tabs: ['General'],
  key: ['name'],
  commands: [],
  refreshMs: 1_000,
  window: { tabOf: IP_SETTINGS_WINDOW },
  source: 'live',
});
