import { AgentGone } from '../../../agent/messages.js';
import type { ApiError } from '../../../errors.js';
import { TimeSlicer } from '../../../scheduling/time-slicer.js';
import type { DynamicItems, Services } from '../../../services.js';
import { connectionsView } from '../../../view/connections.js';
import type { MenuModule } from '../../module.js';

/** Connections that are still there. @throws ApiError (`notFound`) for an id that is not one of these. */
async function findConnections(
  { live }: Services,
  items: readonly string[],
  notFound: (item: string) => ApiError,
): Promise<DynamicItems> {
  const dump = await live.connections();
  if (dump === undefined) throw new AgentGone();
  const slicer = new TimeSlicer();
  await dump.prepareIds(slicer);
  const found = await slicer.map(items, (item) => {
    if (!/^\*[0-9A-Fa-f]{1,16}$/.test(item)) throw notFound(item);
    const id = BigInt(`0x${item.slice(1)}`);
    return dump.indexOf(id) === undefined ? undefined : id;
  });
  const ids = found.filter((id) => id !== undefined);
  return { count: ids.length, remove: () => live.agent.request({ op: 'remove-connections', ids }) };
}

export const firewallConnection: MenuModule = {
  path: '/ip/firewall/connection',
  view: (_, { store, live }) => connectionsView(store, live),
  dynamic: { find: findConnections },
};
