import { DEFAULT_INTERFACE_QUEUE, type Menu, QUEUE_STATISTICS } from '@tollway/schema';
import { PART, type Part, type QueueDump } from '../agent/queues.js';
import type { ConfigStore } from '../config/store.js';
import type { QueueHints } from '../lint/queue-hints.js';
import { interfaceName, interfacesOf } from '../snapshot/interfaces.js';
import type { Row } from '../snapshot/snapshot.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, type RestRow, type View } from './rows.js';
import { storedRow } from './stored.js';
import { type LiveValues, StoredParts, StoredRows } from './stored-rows.js';

/** Cells for the counters of the queues of a menu. */
type ValuesOf = (dump: QueueDump) => LiveValues;

const TOTAL = 'total-';

/** `upload/download`, and `total-…` for both together. */
export const SIMPLE_VALUES: ValuesOf = (dump) => ({
  properties: [...QUEUE_STATISTICS, ...QUEUE_STATISTICS.map((name) => `${TOTAL}${name}`)],
  value(id, property) {
    if (property.startsWith(TOTAL)) return dump.total(id, property.slice(TOTAL.length))?.toString();
    const upload = dump.value(id, PART.upload, property);
    return upload === undefined ? undefined : `${upload}/${dump.value(id, PART.download, property)}`;
  },
  sortNumbers(column) {
    if (column.startsWith(TOTAL)) {
      const name = column.slice(TOTAL.length);
      return QUEUE_STATISTICS.includes(name) ? (id) => Number(dump.total(id, name)) : undefined;
    }
    const [name = '', half] = column.split('.');
    const part = half === 'upload' ? PART.upload : half === 'download' ? PART.download : undefined;
    if (part === undefined || !QUEUE_STATISTICS.includes(name)) return undefined;
    return (id) => Number(dump.value(id, part, name));
  },
});

/** Live values of which each property has one number. */
const singleValues =
  (part: Part): ValuesOf =>
  (dump) => ({
    properties: QUEUE_STATISTICS,
    value: (id, property) => dump.value(id, part, property)?.toString(),
    sortNumbers: (column) =>
      QUEUE_STATISTICS.includes(column) ? (id) => Number(dump.value(id, part, column)) : undefined,
  });

export const TREE_VALUES: ValuesOf = singleValues(PART.whole);

/** Queues with their counters, in their order. */
export function queuesView(menu: Menu, store: ConfigStore, live: LiveState, hints: QueueHints, values: ValuesOf): View {
  const parts = new StoredParts(menu);
  return async (maxAgeMs) => {
    await hints.refresh();
    const dump = await live.queues(maxAgeMs);
    const { snapshot, invalid } = store;
    return new StoredRows(
      snapshot.get(menu.path) ?? [],
      (row) => parts.of(row, invalid.get(row.id), hints.of(row.id)),
      dump && values(dump),
    );
  };
}

/** `/queue/interface`: the queue of each interface. */
export function interfaceQueuesView(menu: Menu, store: ConfigStore, live: LiveState): View {
  const valuesOf = singleValues(PART.interface);
  const counted = QUEUE_STATISTICS.filter((name) => name in menu.props);
  return async (maxAgeMs) => {
    const dump = await live.queues(maxAgeMs);
    const values = dump && valuesOf(dump);
    const withTree = new Set(
      store.compiled['tree-queues']?.flatMap(({ parent }) => (parent.kind === 'interface' ? [parent.interface] : [])),
    );
    return new ArrayRows(
      interfacesOf(store.snapshot).map((row): RestRow => {
        const statistics = values ? counted.map((name) => [name, values.value(row.id, name) ?? '0']) : [];
        return {
          ...interfaceQueue(menu, row),
          'active-queue': withTree.has(row.id) ? 'queue-tree' : 'no-queue',
          ...Object.fromEntries(statistics),
        };
      }),
    );
  };
}

function interfaceQueue(menu: Menu, row: Row): RestRow {
  return {
    ...storedRow(menu, row),
    interface: interfaceName(row),
    'default-queue': DEFAULT_INTERFACE_QUEUE,
  };
}
