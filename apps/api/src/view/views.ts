import { type Menu, registry } from '@tollway/schema';
import type { Users } from '../auth/users.js';
import type { ConfigStore } from '../config/store.js';
import type { QueueHints } from '../lint/queue-hints.js';
import type { LiveState } from '../state/live-state.js';
import type { LogBuffer } from '../state/log-buffer.js';
import type { Processor } from '../state/processor.js';
import { addressListsView } from './address-lists.js';
import { addressesView } from './addresses.js';
import { arpView } from './arp.js';
import { connectionsView } from './connections.js';
import { fastPathView, slowPathView } from './fast-path.js';
import { rulesView } from './firewall.js';
import { interfacesView } from './interfaces.js';
import { logView } from './log.js';
import { queueLintView } from './queue-lint.js';
import { interfaceQueuesView, queuesView, SIMPLE_VALUES, TREE_VALUES } from './queues.js';
import { coresView, resourceView } from './resource.js';
import { routesView } from './routes.js';
import type { View } from './rows.js';
import { settingsView } from './settings.js';
import { builtinRows } from './stored.js';
import { StoredParts, StoredRows } from './stored-rows.js';
import { usersView } from './users.js';

export interface ViewSources {
  readonly store: ConfigStore;
  readonly live: LiveState;
  readonly users: Users;
  readonly log: LogBuffer;
  readonly processor: Processor;
  readonly hints: QueueHints;
  readonly dataDir: string;
}

/** What each menu shows, by path. Menus that only run commands have no view. */
export function createViews(sources: ViewSources): ReadonlyMap<string, View> {
  const views = new Map<string, View>();
  for (const menu of registry) {
    const view = viewOf(menu, sources);
    if (view !== undefined) views.set(menu.path, view);
  }
  return views;
}

function viewOf(menu: Menu, { store, live, users, log, processor, hints, dataDir }: ViewSources): View | undefined {
  switch (menu.path) {
    case '/interface':
    case '/interface/ethernet':
      return interfacesView(menu, store, live);
    case '/ip/firewall/filter':
    case '/ip/firewall/nat':
    case '/ip/firewall/mangle':
      return rulesView(menu, store, live);
    case '/queue/simple':
      return queuesView(menu, store, live, hints, SIMPLE_VALUES);
    case '/queue/tree':
      return queuesView(menu, store, live, hints, TREE_VALUES);
    case '/queue/interface':
      return interfaceQueuesView(menu, store, live);
    case '/queue/lint':
      return queueLintView(hints);
    case '/ip/firewall/address-list':
      return addressListsView(menu, store, live);
    case '/ip/address':
      return addressesView(menu, store);
    case '/ip/route':
      return routesView(menu, store, live);
    case '/ip/arp':
      return arpView(menu, store, live);
    case '/ip/settings/fast-path':
      return fastPathView(live);
    case '/ip/settings/slow-path':
      return slowPathView(live);
    case '/ip/firewall/connection':
      return connectionsView(store, live);
    case '/system/resource/cpu':
      return coresView(processor);
    case '/system/resource':
      return resourceView(processor, dataDir, live);
    case '/log':
      return logView(log);
    case '/user':
      return usersView(users);
    default:
      break;
  }
  if (menu.kind === 'settings') return settingsView(menu, store, live);
  if (!menu.stored) return undefined;
  const parts = new StoredParts(menu);
  return async () => {
    const { snapshot, invalid } = store;
    const { builtin, rows } = builtinRows(menu, snapshot.get(menu.path) ?? []);
    return new StoredRows(rows, (row) => parts.of(row, invalid.get(row.id)), undefined, builtin);
  };
}
