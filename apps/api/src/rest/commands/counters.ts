import { findItems, isDynamicId, namedItems, noSuchItem } from '../../config/items.js';
import { errors } from '../../errors.js';
import { type Call, type Handler, NOTHING } from '../../services.js';
import { storedRowsOf } from '../../snapshot/storage.js';

/** Message that resets counters of rows in the data plane. */
type ResetOp = 'reset-counters' | 'reset-queue-counters' | 'reset-interface-counters';

/** `reset-counters` and `reset-counters-all` of a menu. */
export const counterCommands = (op: ResetOp): Readonly<Record<string, Handler>> => ({
  /** Resets the counters of items. Without items: of all items if the command declares so, else an error. */
  'reset-counters': async ({ services, menu, args }) => {
    const rows = storedRowsOf(services.store.snapshot, menu.path);
    const byDefault = menu.commands.get('reset-counters')?.allByDefault === true;
    const all = byDefault && args['.id'] === undefined && args.numbers === undefined;
    const items = all ? [] : await namedItems(args);
    const dynamic = items.find(isDynamicId);
    if (dynamic !== undefined) throw errors.failure(`the counters of the dynamic item ${dynamic} can not be reset`);
    const ids = (await findItems(menu, rows, items, noSuchItem)).map(({ id }) => id);
    await reset(services, op, ids);
    return NOTHING;
  },
  'reset-counters-all': async ({ services, menu }) => {
    const rows = (services.store.snapshot.get(menu.path) ?? []).map((row) => row.id);
    // A request without rows would reset the rules of every menu.
    if (rows.length > 0) await reset(services, op, rows);
    return NOTHING;
  },
});

/** Resets counters. The final values of queues are first added to the accounting. */
async function reset({ live, accounting }: Call['services'], op: ResetOp, rows: number[]): Promise<void> {
  if (op === 'reset-queue-counters') await accounting.aroundReset(rows, () => live.agent.request({ op, rows }));
  else await live.agent.request({ op, rows });
}
