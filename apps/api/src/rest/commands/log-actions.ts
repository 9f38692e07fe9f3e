import { findItems, namedItems, noSuchItem } from '../../config/items.js';
import { errors } from '../../errors.js';
import { type Answer, type Call, NOTHING } from '../../services.js';
import { withBuiltin } from '../../snapshot/builtin.js';
import { rowsOf } from '../../snapshot/snapshot.js';

/** `/system/logging/action/clear`: forgets what is held in memory, of all that are named or of none. */
export async function clearLogActions({ services, menu, args }: Call): Promise<Answer> {
  const all = withBuiltin(menu, rowsOf(services.store.snapshot, menu.path));
  const rows = await findItems(menu, all, await namedItems(args), noSuchItem);
  const other = rows.find(({ values }) => values.target !== 'memory');
  if (other !== undefined) {
    const { name, target } = other.values;
    throw errors.failure(`action ${name} holds no messages: its target is ${target}; only memory can be cleared`);
  }
  for (const { id } of rows) services.log.clear(id);
  return NOTHING;
}
