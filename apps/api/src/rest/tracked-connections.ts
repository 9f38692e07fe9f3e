import type { AddressFamily } from '@tollway/schema';
import { AgentGone } from '../agent/messages.js';
import type { ApiError } from '../errors.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import type { DynamicItems, Services } from '../services.js';

/** Finds connections of a family that exist, to remove them. It throws `notFound` for an id of another kind. */
export const findConnections =
  (family: AddressFamily) =>
  async ({ live }: Services, items: readonly string[], notFound: (item: string) => ApiError): Promise<DynamicItems> => {
    const dump = await live.connections();
    if (dump === undefined) throw new AgentGone();
    const slicer = new TimeSlicer();
    await dump.prepareIds(slicer);
    const found = await slicer.map(items, (item) => {
      if (!/^\*[0-9A-Fa-f]{1,16}$/.test(item)) throw notFound(item);
      const id = BigInt(`0x${item.slice(1)}`);
      const index = dump.indexOf(id);
      return index !== undefined && dump.isOf(index, family) ? id : undefined;
    });
    const ids = found.filter((id) => id !== undefined);
    return { count: ids.length, remove: () => live.agent.request({ op: 'remove-connections', ids }) };
  };
