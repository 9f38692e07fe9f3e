import type { ApiError } from '../../errors.js';
import type { Services } from '../services.js';

/** Ends those of the connections that are still there, and says how many were. */
export async function removeConnections(
  { live }: Services,
  items: readonly string[],
  missing: (item: string) => ApiError,
): Promise<number> {
  const dump = await live.connections();
  const ids = items.flatMap((item) => {
    if (!/^\*[0-9A-Fa-f]{1,16}$/.test(item)) throw missing(item);
    const id = BigInt(`0x${item.slice(1)}`);
    return dump?.indexOf(id) === undefined ? [] : id;
  });
  if (ids.length > 0) await live.agent.request({ op: 'remove-connections', ids });
  return ids.length;
}
