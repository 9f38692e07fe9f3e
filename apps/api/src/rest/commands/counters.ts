import type { RequestBody } from '../../agent/messages.js';
import { findItems, isDynamicId, namedItems, noSuchItem, storageOf } from '../../config/items.js';
import { errors } from '../../errors.js';
import { type Answer, type Call, NOTHING } from '../../services.js';
import { checkArguments } from '../arguments.js';

/** `reset-counters` of rules, queues and interfaces. Without items it is an error, but all of them for interfaces. */
export async function resetCounters({ services, menu, args }: Call): Promise<Answer> {
  checkArguments(args, ['.id', 'numbers']);
  const storage = storageOf(menu);
  const rows = services.store.snapshot.get(storage) ?? [];
  const byDefault = menu.commands.get('reset-counters')?.allByDefault === true;
  const all = byDefault && args['.id'] === undefined && args.numbers === undefined;
  const items = all ? [] : await namedItems(args);
  if (items.some(isDynamicId)) throw errors.failure('the counters of a dynamic item can not be reset');
  const ids = (await findItems(menu, rows, items, noSuchItem)).map(({ id }) => id);
  await reset(services, resetOf(storage, ids));
  return NOTHING;
}

/** `reset-counters-all`: every rule or queue of this menu. */
export async function resetAllCounters({ services, menu, args }: Call): Promise<Answer> {
  checkArguments(args, []);
  const rows = (services.store.snapshot.get(menu.path) ?? []).map((row) => row.id);
  // No rows would mean the rules of every menu.
  if (rows.length > 0) await reset(services, resetOf(menu.path, rows));
  return NOTHING;
}

/** What queues have carried is kept for accounting before their counters begin at zero. */
async function reset({ live, accounting }: Call['services'], request: RequestBody): Promise<void> {
  if (request.op === 'reset-queue-counters') {
    await accounting.aroundReset(request.rows, () => live.agent.request(request));
  } else {
    await live.agent.request(request);
  }
}

function resetOf(menu: string, rows: number[]): RequestBody {
  if (menu.startsWith('/interface')) return { op: 'reset-interface-counters', rows };
  return menu.startsWith('/queue') ? { op: 'reset-queue-counters', rows } : { op: 'reset-counters', rows };
}
