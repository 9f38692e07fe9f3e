import type { ApiError } from '../../errors.js';
import type { Services } from '../services.js';

/** Ends connections. All of the ids must exist. */
export async function removeConnections(
  { live }: Services,
  items: readonly string[],
  missing: (item: string) => ApiError,
): Promise<void> {
  const dump = await live.connections();
  const ids = items.map((item) => {
    if (!/^\*[0-9A-Fa-f]{1,16}$/.test(item)) throw missing(item);
    const id = BigInt(`0x${item.slice(1)}`);
    if (dump?.indexOf(id) === undefined) throw missing(item);
    return id;
  });
  await live.agent.request({ op: 'remove-connections', ids });
}
