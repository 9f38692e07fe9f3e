import { findItem, namedItems, noSuchItem, storageOf } from '../../config/items.js';
import { checkArguments } from '../arguments.js';
import { type Answer, type Call, NOTHING } from '../services.js';

/** `reset-counters` of rules and interfaces. Without items it is an error for rules, all of them for interfaces. */
export async function resetCounters({ services, menu, args }: Call): Promise<Answer> {
  checkArguments(args, ['.id', 'numbers']);
  const storage = storageOf(menu);
  const rows = services.store.snapshot.get(storage) ?? [];
  const isInterface = storage.startsWith('/interface');
  const all = isInterface && args['.id'] === undefined && args.numbers === undefined;
  const ids = all ? [] : namedItems(args).map((item) => findItem(menu, rows, item, noSuchItem).id);
  await services.live.agent.request(
    isInterface ? { op: 'reset-interface-counters', rows: ids } : { op: 'reset-counters', rows: ids },
  );
  return NOTHING;
}

/** `reset-counters-all`: every rule of this menu. */
export async function resetAllCounters({ services, menu, args }: Call): Promise<Answer> {
  checkArguments(args, []);
  const rows = (services.store.snapshot.get(menu.path) ?? []).map((row) => row.id);
  // No rows would mean the rules of every menu.
  if (rows.length > 0) await services.live.agent.request({ op: 'reset-counters', rows });
  return NOTHING;
}
