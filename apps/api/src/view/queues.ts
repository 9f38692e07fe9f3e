import type { Menu } from '@tollway/schema';
import { QueueDump } from '../agent/queues.js';
import type { ConfigStore } from '../config/store.js';
import type { LiveState } from '../state/live-state.js';
import type { View } from './rows.js';
import { type LiveValues, StoredParts, StoredRows } from './stored-rows.js';

/** Simple queues with what passes and waits, in order of evaluation. */
export function queuesView(menu: Menu, store: ConfigStore, live: LiveState): View {
  const parts = new StoredParts(menu);
  return async (maxAgeMs) => {
    const dump = await live.queues(maxAgeMs);
    const { snapshot, invalid } = store;
    const values: LiveValues | undefined = dump && {
      properties: QueueDump.properties,
      value: (id, property) => dump.value(id, property),
    };
    return new StoredRows(snapshot.get(menu.path) ?? [], (row) => parts.of(row, invalid.get(row.id)), values);
  };
}
