import { DEFAULT_INTERFACE_QUEUE, type Menu, QUEUE_STATISTICS } from '@tollway/schema';
import { PART } from '../../agent/queues.js';
import { compileQueues } from '../../compiler/queues.js';
import type { ConfigStore } from '../../config/store.js';
import { interfaceName, interfacesOf } from '../../snapshot/interfaces.js';
import type { Row } from '../../snapshot/snapshot.js';
import type { LiveState } from '../../state/live-state.js';
import { singleValues } from '../../view/queues.js';
import { ArrayRows, type RestRow, type View } from '../../view/rows.js';
import { storedRow } from '../../view/stored.js';
import type { MenuModule } from '../module.js';

/** `/queue/interface`: the queue of each interface. */
function interfaceQueuesView(menu: Menu, store: ConfigStore, live: LiveState): View {
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
          ...settingsOf(menu, row),
          'active-queue': withTree.has(row.id) ? 'queue-tree' : 'no-queue',
          ...Object.fromEntries(statistics),
        };
      }),
    );
  };
}

function settingsOf(menu: Menu, row: Row): RestRow {
  return {
    ...storedRow(menu, row),
    interface: interfaceName(row),
    'default-queue': DEFAULT_INTERFACE_QUEUE,
  };
}

export const interfaceQueue: MenuModule = {
  path: '/queue/interface',
  compile: (context) => ({ 'interface-queues': context.once(compileQueues).interfaces }),
  view: (menu, { store, live }) => interfaceQueuesView(menu, store, live),
};
