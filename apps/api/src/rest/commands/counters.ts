import type { RequestBody } from '../../agent/messages.js';
import { findItem, isDynamicId, namedItems, noSuchItem, storageOf } from '../../config/items.js';
import { errors } from '../../errors.js';
import { checkArguments } from '../arguments.js';
import { type Answer, type Call, NOTHING } from '../services.js';

/** `reset-counters` of rules, queues and interfaces. Without items it is an error, but all of them for interfaces. */
export async function resetCounters({ services, menu, args }: Call): Promise<Answer> {
  checkArguments(args, ['.id', 'numbers']);
  const storage = storageOf(menu);
  const rows = services.store.snapshot.get(storage) ?? [];
  const all = storage.startsWith('/interface') && args['.id'] === undefined && args.numbers === undefined;
  const items = all ? [] : namedItems(args);
  if (items.some(isDynamicId)) throw errors.failure('the counters of a dynamic item can not be reset');
  await services.live.agent.request(
    resetOf(
      storage,
      items.map((item) => findItem(menu, rows, item, noSuchItem).id),
    ),
  );
  return NOTHING;
}

/** `reset-counters-all`: every rule or queue of this menu. */
export async function resetAllCounters({ services, menu, args }: Call): Promise<Answer> {
  checkArguments(args, []);
  const rows = (services.store.snapshot.get(menu.path) ?? []).map((row) => row.id);
  // No rows would mean the rules of every menu.
  if (rows.length > 0) await services.live.agent.request(resetOf(menu.path, rows));
  return NOTHING;
}

function resetOf(menu: string, rows: number[]): RequestBody {
  if (menu.startsWith('/interface')) return { op: 'reset-interface-counters', rows };
  return menu.startsWith('/queue') ? { op: 'reset-queue-counters', rows } : { op: 'reset-counters', rows };
}
