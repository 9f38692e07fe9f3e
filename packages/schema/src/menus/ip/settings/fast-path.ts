import { defineMenu } from '../../../define.js';
import { readOnly } from '../../../mixins/read-only.js';
import { bool } from '../../../props/bool.js';
import { bytes } from '../../../props/bytes.js';
import { counter } from '../../../props/counter.js';
import { text } from '../../../props/text.js';
import { IP_SETTINGS_WINDOW } from '../../../windows.js';

/** The fast paths, which bypass the slow path, and the reasons why one is inactive. */
export const ipFastPath = defineMenu({
  path: '/ip/settings/fast-path',
  title: 'Fast Path',
  singular: 'Fast Path Handler',
  kind: 'status-list',
  tree: ['IP', 'Settings', 'Fast Path'],
  help: 'Paths on which packets skip stages, and what blocks them.',
  props: {
    name: readOnly(text(), 'Handler', 'Way past the slow path.'),
    active: readOnly(bool, 'Active', 'Packets may take this way.'),
    'blocked-by': readOnly(text(), 'Blocked By', 'First condition that does not hold.'),
    packets: {
      ...readOnly(
        counter('packets'),
        'Packets',
        'Packets that took this way since the data plane started; those of flow-offload are among the others.',
      ),
      pinned: true,
    },
    bytes: { ...readOnly(bytes, 'Bytes', 'IP bytes of these packets.'), pinned: true },
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
